import assert from "node:assert/strict";
import { test } from "node:test";
import { invocationOf } from "../../python/pi_event_search/pi_extension/src/invocation.ts";
import { type Colors, callLine, resultText } from "../../python/pi_event_search/pi_extension/src/render.ts";

const TAGS: Colors = { fg: (color, text) => `<${color}>${text}</>`, bold: (text) => `*${text}*` };
const PLAIN: Colors = { fg: (_color, text) => text, bold: (text) => text };

test("a call is one line", () => {
	const args = { query: "lock\ntimeout", errorOnly: true, kinds: ["tool.result"], file: "x".repeat(200) };
	const line = callLine("event_search", args, PLAIN);
	assert.match(line, /^event_search "lock timeout" errorOnly kinds=\["tool.result"\] file=x{79}…$/);
	assert.equal(callLine("event_read", undefined, TAGS), "<toolTitle>*event_read*</>");
	assert.equal(callLine("event_read", { a: undefined }, PLAIN), "event_read a=");
});

test("a result is one line until it is expanded, then what matched stands out", () => {
	const text = "2 events found.\n> a lock and\n> a lock";
	const marks = [
		{ start: 20, end: 24 },
		{ start: 33, end: 37 },
	];
	const how = { expanded: false, isError: false, hint: "ctrl+o to expand" };
	assert.equal(resultText(text, marks, how, PLAIN), "2 events found. (ctrl+o to expand)");
	assert.equal(resultText("one line", [], how, PLAIN), "one line");
	assert.equal(
		resultText(text, marks, { ...how, expanded: true }, TAGS),
		[
			"<toolOutput>2 events found.</>",
			"<toolOutput>> a </><accent>*lock*</><toolOutput> and</>",
			"<toolOutput>> a </><accent>*lock*</><toolOutput></>",
		].join("\n"),
	);
	assert.equal(resultText("why", [], { ...how, isError: true }, TAGS), "<error>why</>");
});

type Context = Parameters<typeof invocationOf>[0];

function context(branch: object[], file?: string): Context {
	return {
		cwd: "/w",
		sessionManager: { getSessionId: () => "s", getSessionFile: () => file, getBranch: () => branch },
	} as unknown as Context;
}

function asking(id: string, ...calls: string[]) {
	const content = calls.map((call) => ({ type: "toolCall", id: call, name: "event_search", arguments: {} }));
	return { type: "message", id, message: { role: "assistant", content } };
}

test("the invocation names the newest entry that holds the call", () => {
	const branch = [asking("old", "c1"), asking("new", "c1", "c2"), { type: "label", id: "l" }];
	assert.deepEqual(invocationOf(context(branch, "/s/x.jsonl"), "c1"), {
		cwd: "/w",
		currentSessionId: "s",
		currentSessionFile: "/s/x.jsonl",
		toolCallId: "c1",
		invocationEntryId: "new",
	});
	assert.equal(invocationOf(context(branch), "c2/7/1").invocationEntryId, "new");
	assert.deepEqual(invocationOf(context(branch), "c9"), { cwd: "/w", currentSessionId: "s", toolCallId: "c9" });
	assert.deepEqual(invocationOf(context(branch)), { cwd: "/w", currentSessionId: "s" });
});
