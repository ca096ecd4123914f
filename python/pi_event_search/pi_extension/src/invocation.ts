/** Who asks: the caller's own facts, which no argument of a model can widen. */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";

export interface Invocation {
	cwd: string;
	currentSessionId: string;
	currentSessionFile?: string;
	toolCallId?: string;
	invocationEntryId?: string;
}

type Context = Pick<ExtensionContext, "cwd"> & {
	sessionManager: Pick<ExtensionContext["sessionManager"], "getSessionId" | "getSessionFile" | "getBranch">;
};

/** The invocation of a tool call, or of a person (without a call). */
export function invocationOf(ctx: Context, toolCallId?: string): Invocation {
	const file = ctx.sessionManager.getSessionFile();
	const entry = toolCallId === undefined ? undefined : invokingEntry(ctx, toolCallId);
	return {
		cwd: ctx.cwd,
		currentSessionId: ctx.sessionManager.getSessionId(),
		...(file === undefined ? {} : { currentSessionFile: file }),
		...(toolCallId === undefined ? {} : { toolCallId }),
		...(entry === undefined ? {} : { invocationEntryId: entry }),
	};
}

/**
 * The entry that holds the call: the newest assistant message on the branch with its id. The message is
 * appended before its tools run. A call made by a tool has the id of the outer call, a slash and a number.
 */
function invokingEntry(ctx: Context, toolCallId: string): string | undefined {
	const branch = ctx.sessionManager.getBranch();
	for (let id: string | undefined = toolCallId; id !== undefined; id = /^(.+)\/\d+$/.exec(id)?.[1]) {
		const called = branch.findLast(
			(entry) =>
				entry.type === "message" &&
				entry.message.role === "assistant" &&
				entry.message.content.some((block) => block.type === "toolCall" && block.id === id),
		);
		if (called) return called.id;
	}
	return undefined;
}
