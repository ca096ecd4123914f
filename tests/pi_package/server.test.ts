import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { ServerError } from "../../python/pi_event_search/pi_extension/src/connection.ts";
import { HELP, type Program } from "../../python/pi_event_search/pi_extension/src/python.ts";
import { Server, Unavailable } from "../../python/pi_event_search/pi_extension/src/server.ts";

const FAKE = join(import.meta.dirname, "fake_server.ts");
const PATIENT = { deadline: 60_000 };

interface Answer {
	method: string;
	params: unknown;
	cancelled: number[];
	pid: number;
}

function server(t: TestContext, program: Program | undefined, greeted?: (result: unknown) => void): Server {
	const made = new Server({
		program: () => program,
		cwd: tmpdir(),
		env: process.env,
		greeting: () => ({ client: { name: "test" } }),
		...(greeted ? { greeted } : {}),
	});
	t.after(() => made.stop());
	return made;
}

function fake(...args: string[]): Program {
	return { command: process.execPath, args: [FAKE, ...args] };
}

test("it starts when it is needed, greets, and answers what is asked at once", async (t) => {
	let greeting: unknown;
	const running = server(t, fake("good"), (result) => {
		greeting = result;
	});
	const answers = await Promise.all([1, 2, 3].map((n) => running.call("m", { n }, PATIENT)));
	assert.deepEqual(
		answers.map((answer) => (answer as Answer).params),
		[{ n: 1 }, { n: 2 }, { n: 3 }],
	);
	assert.deepEqual(greeting, { tools: [], params: { protocolVersion: 1, client: { name: "test" } } });
	await assert.rejects(running.call("fail", {}, PATIENT), (error: ServerError) => {
		assert.ok(error instanceof ServerError);
		return error.message === "as asked" && error.word === "NOT_FOUND";
	});
});

test("a server that was killed between calls is replaced without anybody noticing", async (t) => {
	const running = server(t, fake("good"));
	const { pid } = (await running.call("m", {}, PATIENT)) as Answer;
	process.kill(pid, "SIGKILL");
	const again = (await running.call("m", {}, PATIENT)) as Answer;
	assert.notEqual(again.pid, pid);
});

test("a call that the server died over is asked once more", async (t) => {
	const file = join(mkdtempSync(join(tmpdir(), "pi-")), "died");
	const answer = (await server(t, fake("once", file)).call("m", {}, PATIENT)) as Answer;
	assert.equal(answer.method, "m");
	await assert.rejects(server(t, fake("dies")).call("m", {}, PATIENT), Unavailable);
});

test("a server that cannot start is not waited for, and the message says what to do", async (t) => {
	const programs = [undefined, fake("broken"), { command: "/nowhere/python", args: [] }];
	for (const program of programs) {
		await assert.rejects(server(t, program).call("m", {}, PATIENT), { message: HELP });
	}
});

test("an aborted call ends at once and is cancelled", async (t) => {
	const running = server(t, fake("deaf"));
	const controller = new AbortController();
	const call = running.call("m", {}, { ...PATIENT, signal: controller.signal });
	await running.call("cancelled", {}, PATIENT); // it runs, and the call is there
	controller.abort();
	await assert.rejects(call, /aborted/);
	assert.deepEqual(((await running.call("cancelled", {}, PATIENT)) as Answer).cancelled, [2]);
	await assert.rejects(running.call("m", {}, { ...PATIENT, signal: controller.signal }), /aborted/);
});

test("a call has a deadline, and the message is clear", async (t) => {
	const running = server(t, fake("deaf"));
	await running.call("cancelled", {}, PATIENT);
	await assert.rejects(running.call("m", {}, { deadline: 1 }), /no answer within 0\.001 s; .*try again/);
});

test("whatever is no frame ends the server and not Pi", async (t) => {
	for (const how of ["noise", "flood"]) {
		await assert.rejects(server(t, fake(how)).call("m", {}, { deadline: 5000 }), Unavailable);
	}
});

test("a stopped server does not start again", async (t) => {
	const running = server(t, fake("good"));
	await running.call("m", {}, PATIENT);
	const call = running.call("n", {}, PATIENT);
	running.stop();
	await assert.rejects(call, Unavailable);
	running.start();
	running.notify("m", {});
	await assert.rejects(running.call("m", {}, PATIENT), Unavailable);
});

test("a running server keeps no process alive, and ends with it", async () => {
	const module = join(import.meta.dirname, "../../python/pi_event_search/pi_extension/src/server.ts");
	const script = `
		const { Server } = await import(${JSON.stringify(module)});
		const program = ${JSON.stringify(fake("good"))};
		const server = new Server({ program: () => program, cwd: "/", env: process.env, greeting: () => ({}) });
		console.log((await server.call("m", {}, { deadline: 60000 })).pid);
	`;
	const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
		stdio: ["ignore", "pipe", "inherit"],
	});
	let pid = "";
	child.stdout.on("data", (data) => {
		pid += data;
	});
	const [code] = await once(child, "close");
	assert.equal(code, 0);
	assert.ok(Number(pid) > 0);
});
