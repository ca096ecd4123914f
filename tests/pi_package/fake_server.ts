/**
 * A server that does what the first word of its arguments says, for the tests of the connection:
 * `good` answers everything; `dies` ends at its first request behind `initialize`; `once FILE` dies like that
 * only as long as FILE does not exist; `broken` never starts; `deaf` answers only `initialize`; `noise` speaks no
 * JSON; `flood` never ends a line.
 */
import { existsSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [how, file = ""] = process.argv.slice(2);
if (how === "broken") {
	console.error("Traceback (most recent call last):\nModuleNotFoundError: No module named pi_event_search");
	process.exit(1);
}
const say = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const cancelled: unknown[] = [];
createInterface({ input: process.stdin }).on("line", (line) => {
	const { id, method, params } = JSON.parse(line);
	if (how === "noise") return process.stdout.write("no JSON\n");
	if (how === "flood") return process.stdout.write("x".repeat(40 * 1024 * 1024));
	if (method === "initialize") return say({ id, result: { tools: [], params } });
	if (method === "$/cancel") return cancelled.push(params.id);
	if (how === "dies" || (how === "once" && !existsSync(file))) {
		if (file) writeFileSync(file, "");
		process.kill(process.pid, "SIGKILL");
	}
	if (method === "fail") return say({ id, error: { code: -32000, message: "as asked", data: { code: "NOT_FOUND" } } });
	if (how !== "deaf" || method === "cancelled") say({ id, result: { method, params, cancelled, pid: process.pid } });
});
