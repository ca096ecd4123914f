/**
 * A model for the real Pi that answers from a script, without any network: `--model scripted/model`.
 *
 * SCRIPT names a JSON file `{"steps": [step, ...]}`; each step is used once, the first one that fits. A step is
 * `{"when"?: regex on the last message, "text"?: ..., "calls"?: [{"id"?, "name", "arguments"}]}`. `{{tool~regex}}` in any of its
 * strings stands for the first group of the regex in the newest result of that tool. What the model was shown is appended to
 * SHOWN, a line a request.
 */
import { appendFileSync, readFileSync } from "node:fs";
import {
	type AssistantMessage,
	createAssistantMessageEventStream,
	type JsonObject,
	type Message,
} from "@earendil-works/pi-ai";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

interface Step {
	when?: string;
	text?: string;
	calls?: { id?: string; name: string; arguments: JsonObject }[];
}

export default function (pi: ExtensionAPI): void {
	const steps: Step[] = JSON.parse(readFileSync(process.env.SCRIPT ?? "", "utf8")).steps;
	let requests = 0;
	pi.registerProvider("scripted", {
		name: "Scripted",
		baseUrl: "http://127.0.0.1:9", // never contacted
		apiKey: "none", // Pi asks for some key
		api: "scripted",
		models: [
			{
				id: "model",
				name: "Scripted",
				reasoning: false,
				input: ["text"],
				cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
				contextWindow: 200_000,
				maxTokens: 8192,
			},
		],
		streamSimple(model, context, options) {
			const stream = createAssistantMessageEventStream();
			const shown = context.messages.filter((message) => message.role !== "system");
			const last = textOf(shown.at(-1));
			const tools = JSON.stringify(context.messages.filter((message) => message.role === "system"));
			const log = { last, tools: ["event_search", "event_read", "event_trace"].filter((name) => tools.includes(name)) };
			appendFileSync(process.env.SHOWN ?? "/dev/null", `${JSON.stringify(log)}\n`);
			const at = steps.findIndex((step) => !step.when || new RegExp(step.when).test(last));
			const [step = { text: "NOTHING LEFT TO SAY" }] = at < 0 ? [] : steps.splice(at, 1);
			requests += 1;
			const message = answer(filledIn(step, shown), requests, model);
			void (async () => {
				await options?.onPayload?.({}, model);
				await options?.onResponse?.({ status: 200, headers: {} }, model);
				stream.push({ type: "start", partial: message });
				stream.push({ type: "done", reason: message.stopReason === "toolUse" ? "toolUse" : "stop", message });
				stream.end(message);
			})();
			return stream;
		},
	});
}

function answer(step: Step, request: number, model: { api: string; provider: string; id: string }): AssistantMessage {
	const calls = (step.calls ?? []).map((call, index) => ({
		type: "toolCall" as const,
		id: call.id ?? `call_${process.pid}_${request}_${index}`,
		name: call.name,
		arguments: call.arguments,
	}));
	return {
		role: "assistant",
		content: [...(step.text ? [{ type: "text" as const, text: step.text }] : []), ...calls],
		api: model.api,
		provider: model.provider,
		model: model.id,
		usage: {
			input: 1,
			output: 1,
			cacheRead: 0,
			cacheWrite: 0,
			totalTokens: 2,
			cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
		},
		stopReason: calls.length > 0 ? "toolUse" : "stop",
		timestamp: Date.now(),
	};
}

function textOf(message: Message | undefined): string {
	if (message === undefined) return "";
	if (typeof message.content === "string") return message.content;
	return message.content.map((block) => ("text" in block ? block.text : "")).join("\n");
}

function filledIn<T>(value: T, shown: Message[]): T {
	const text = JSON.stringify(value).replace(/\{\{(\w+)~(.+?)\}\}/g, (_all, tool: string, pattern: string) => {
		const result = shown.findLast((message) => message.role === "toolResult" && message.toolName === tool);
		const found = new RegExp(JSON.parse(`"${pattern}"`)).exec(textOf(result));
		return JSON.stringify(found?.[1] ?? `no ${tool} result has ${pattern}`).slice(1, -1);
	});
	return JSON.parse(text);
}
