/** How calls and results look to the person: one line each, and everything when expanded. */
import type { Mark } from "./page.ts";
import { oneLine } from "./page.ts";

/** What is used of Pi's theme. */
export interface Colors {
	fg(color: "toolTitle" | "toolOutput" | "accent" | "muted" | "dim" | "error", text: string): string;
	bold(text: string): string;
}

const LONGEST = 80;

/** `event_search "lock timeout" errorOnly kinds=tool.result` */
export function callLine(name: string, args: unknown, colors: Colors): string {
	const given = typeof args === "object" && args !== null ? Object.entries(args) : [];
	const words = given.map(([key, value]) => colors.fg("muted", argument(key, value)));
	return [colors.fg("toolTitle", colors.bold(name)), ...words].join(" ");
}

function argument(key: string, value: unknown): string {
	if (value === true) return key;
	const text = typeof value === "string" ? value : JSON.stringify(value);
	const shown = oneLine(text ?? "");
	const short = shown.length > LONGEST ? `${shown.slice(0, LONGEST - 1).toWellFormed()}…` : shown;
	return key === "query" ? `"${short}"` : `${key}=${short}`;
}

/** A result as it is read: its first line, or all of it with what matched in colour. */
export function resultText(
	text: string,
	marks: readonly Mark[],
	how: { expanded: boolean; isError: boolean; hint: string },
	colors: Colors,
): string {
	if (how.isError) return colors.fg("error", text);
	if (!how.expanded) {
		const [first = "", ...rest] = text.split("\n");
		const more = rest.length > 0 ? colors.fg("dim", ` (${how.hint})`) : "";
		return colors.fg("muted", first) + more;
	}
	return coloured(text, marks, colors);
}

/** Colours line by line, because styles do not survive the end of a line. */
function coloured(text: string, marks: readonly Mark[], colors: Colors): string {
	let at = 0;
	return text
		.split("\n")
		.map((line) => {
			const start = at;
			at += line.length + 1;
			const inside = marks.filter((mark) => mark.start >= start && mark.end <= start + line.length);
			let done = 0;
			let shown = "";
			for (const mark of inside) {
				shown += colors.fg("toolOutput", line.slice(done, mark.start - start));
				shown += colors.fg("accent", colors.bold(line.slice(mark.start - start, mark.end - start)));
				done = mark.end - start;
			}
			return shown + colors.fg("toolOutput", line.slice(done));
		})
		.join("\n");
}
