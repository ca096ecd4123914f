/** The extension: tools and commands at once, the server behind them when a session starts. */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { registerCommands } from "./commands.ts";
import { invocationOf } from "./invocation.ts";
import { findProgram } from "./python.ts";
import { Server } from "./server.ts";
import { SHIPPED, Toolbox, type ToolSchema } from "./tools.ts";

const PACKAGE_DIR = dirname(dirname(fileURLToPath(import.meta.url)));

export default function (pi: ExtensionAPI): void {
	let server: Server | undefined;
	const tools = new Toolbox(() => server);
	const register = (schemas: ToolSchema[]) => {
		for (const schema of schemas) {
			const tool = tools.define(schema);
			if (tool) pi.registerTool(tool);
		}
	};
	register(SHIPPED);
	registerCommands(pi, () => server);

	pi.on("session_start", (_event, ctx) => {
		server?.stop();
		const own = new Server({
			program: () => findProgram({ settings: pi.getSettings(), env: process.env, packageDir: PACKAGE_DIR }),
			cwd: ctx.cwd,
			env: environment(process.env, process.argv, ctx.cwd),
			greeting: () => ({ client: { name: "pi" }, invocation: invocationOf(ctx) }),
			greeted: (result) => {
				// A server of another version describes its tools itself.
				const offered = (result as { tools?: ToolSchema[] }).tools;
				if (offered && JSON.stringify(offered) !== JSON.stringify(SHIPPED)) register(offered);
			},
		});
		server = own;
		setImmediate(() => own.start()); // Pi waits for this handler, and starting a process takes a while
	});
	pi.on("agent_settled", (_event, ctx) => tellSession(server, ctx));
	pi.on("session_shutdown", () => {
		server?.stop();
		server = undefined;
	});
}

/** Has the session indexed, so that other sessions find what was just done in this one. */
function tellSession(server: Server | undefined, ctx: ExtensionContext): void {
	const sessionFile = ctx.sessionManager.getSessionFile();
	if (sessionFile === undefined) return;
	const told = { sessionFile, invocation: invocationOf(ctx) };
	setImmediate(() => server?.notify("session/sync", told)); // waking the server may cost Pi its turn on a busy machine
}

/** The environment of the server: a directory that Pi was told on its command line counts for both. */
function environment(env: NodeJS.ProcessEnv, argv: string[], cwd: string): NodeJS.ProcessEnv {
	const at = argv.indexOf("--session-dir");
	const directory = at < 0 ? undefined : argv[at + 1];
	return directory === undefined ? env : { ...env, PI_CODING_AGENT_SESSION_DIR: directory, PWD: cwd };
}
