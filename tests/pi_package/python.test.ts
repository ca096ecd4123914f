import assert from "node:assert/strict";
import { test } from "node:test";
import { findProgram } from "../../python/pi_event_search/pi_extension/src/python.ts";

const SITE = "/opt/env/lib/python3.12/site-packages/pi_event_search/pi_extension";
const served = ["-m", "pi_event_search", "serve"];

function find(packageDir: string, there: string[], env: Record<string, string> = {}, settings: unknown = {}) {
	return findProgram({ settings, env, packageDir, exists: (path) => there.includes(path) });
}

test("a setting comes first, then the environment, and neither is guessed about", () => {
	const env = { PI_EVENT_SEARCH_PYTHON: "/env/python", PATH: "/usr/bin" };
	const settings = { eventSearch: { python: "/set/python" } };
	assert.deepEqual(find(SITE, [], env, settings), { command: "/set/python", args: served });
	assert.deepEqual(find(SITE, [], env), { command: "/env/python", args: served });
	for (const nothing of [null, [], "x", { eventSearch: null }, { eventSearch: { python: 7 } }, { eventSearch: {} }]) {
		assert.deepEqual(find(SITE, [], env, nothing), { command: "/env/python", args: served });
	}
});

test("then the interpreter of the environment that holds the package", () => {
	const all = ["/opt/env/bin/python3.12", "/opt/env/bin/python3"];
	assert.equal(find(SITE, all)?.command, "/opt/env/bin/python3.12");
	assert.equal(find(SITE, all.slice(1))?.command, "/opt/env/bin/python3");
});

test("packages of a user or a distribution name their interpreter, which is in PATH", () => {
	const user = "/home/ada/.local/lib/python3.11/site-packages/pi_event_search/pi_extension";
	const env = { PATH: "relative:/bin:/usr/bin" };
	assert.equal(find(user, ["relative/python3.11", "/usr/bin/python3.11"], env)?.command, "/usr/bin/python3.11");
	const free = "/x/lib/python3.13t/site-packages/pi_event_search/pi_extension";
	assert.equal(find(free, ["/x/bin/python3.13t"])?.command, "/x/bin/python3.13t");
});

test("a source tree has its own environment", () => {
	const tree = "/src/pi-event-search/python/pi_event_search/pi_extension";
	assert.equal(find(tree, ["/src/pi-event-search/.venv/bin/python"])?.command, "/src/pi-event-search/.venv/bin/python");
});

test("at last the command in PATH, and else nothing", () => {
	const env = { PATH: "/usr/bin:/home/ada/bin" };
	assert.deepEqual(find("/elsewhere/pi_event_search/pi_extension", ["/home/ada/bin/pi-event-search"], env), {
		command: "/home/ada/bin/pi-event-search",
		args: ["serve"],
	});
	assert.equal(find(SITE, [], env), undefined);
	assert.equal(find(SITE, []), undefined);
});
