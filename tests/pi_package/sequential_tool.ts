/** A tool that Pi must run by itself: `say_later` returns its argument. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function (pi: ExtensionAPI): void {
	pi.registerTool({
		name: "say_later",
		label: "Say later",
		description: "Returns its argument",
		parameters: { type: "object", properties: { what: { type: "string" } }, required: ["what"] } as never,
		executionMode: "sequential",
		async execute(_id, params) {
			return { content: [{ type: "text", text: (params as { what: string }).what }], details: undefined };
		},
	});
}
