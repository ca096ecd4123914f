/** What the person can ask for without the model: nothing of it enters the conversation. */
import type { ExtensionAPI, ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import type { Coverage, SearchPage } from "./answers.ts";
import { formatSearch, statusText } from "./format.ts";
import { invocationOf } from "./invocation.ts";
import { DEADLINE, type Server } from "./server.ts";

const LIMIT = 10;

export function registerCommands(pi: Pick<ExtensionAPI, "registerCommand">, server: () => Server | undefined): void {
	const ask = async (ctx: ExtensionCommandContext, method: string, params: object) => {
		const running = server();
		if (!running) throw new Error("The history search is not running in this session.");
		return running.call(method, { ...params, invocation: invocationOf(ctx) }, { deadline: DEADLINE });
	};
	const command = (
		name: string,
		description: string,
		run: (args: string, ctx: ExtensionCommandContext) => Promise<string>,
	) =>
		pi.registerCommand(name, {
			description,
			handler: async (args, ctx) => {
				try {
					show(ctx, await run(args.trim(), ctx), "info");
				} catch (error) {
					show(ctx, error instanceof Error ? error.message : String(error), "error");
				}
			},
		});
	command("event-search", "Search the history of this project (shown to you, not to the model)", async (query, ctx) => {
		if (!query) return 'Usage: /event-search QUERY (words that must all occur, and "quoted phrases")';
		const page = (await ask(ctx, "event/search", { arguments: { query, limit: LIMIT } })) as SearchPage;
		return formatSearch(page).text;
	});
	command("event-status", "Show what the history search covers", async (_args, ctx) =>
		statusText((await ask(ctx, "index/status", {})) as Coverage),
	);
}

function show(ctx: ExtensionCommandContext, text: string, type: "info" | "error"): void {
	if (ctx.hasUI) ctx.ui.notify(text, type);
	else if (ctx.mode === "print") console.log(text); // JSON mode keeps its output to itself
}
