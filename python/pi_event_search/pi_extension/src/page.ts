/** A text under construction: lines within a budget of characters, with the places to highlight. */

export interface Mark {
	/** UTF-16 units into the text. */
	start: number;
	end: number;
}

export interface Page {
	text: string;
	marks: Mark[];
	/** Whether the budget cut something off. */
	cut: boolean;
}

// Characters that steer a terminal or the direction of text, and those that hide something.
const UNSAFE =
	// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
	/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

/** Text of a log without what a terminal would obey and an eye would not see. Keeps its length in code points. */
export function clean(text: string): string {
	return text.replace(/[\r\u2028\u2029\u0085]/g, "\n").replace(UNSAFE, "\ufffd");
}

/** The beginning of a text, cut where it is too long. */
export function brief(text: string, limit: number): string {
	const points = Array.from(text);
	return points.length <= limit ? text : `${points.slice(0, limit - 1).join("")}…`;
}

/** The same on one line. */
export function oneLine(text: string): string {
	return clean(text).replace(/\s/g, " ");
}

export class PageBuilder {
	private readonly budget: number;
	private readonly closing: string;
	private readonly lines: string[] = [];
	private readonly marks: Mark[] = [];
	private length = 0;
	private cut = false;

	/** `closing` is the line that says that something was cut off; it counts. */
	constructor(budget: number, closing: string) {
		this.budget = budget - closing.length - 1;
		this.closing = closing;
	}

	/** Whether the budget is used up. */
	get full(): boolean {
		return this.cut;
	}

	/** Adds lines that belong together, all or none of them. */
	add(...lines: string[]): boolean {
		const length = lines.reduce((sum, line) => sum + line.length + 1, 0);
		if (this.cut || this.length + length > this.budget) {
			this.cut = true;
			return false;
		}
		this.lines.push(...lines);
		this.length += length;
		return true;
	}

	/** Adds lines of which the last is quoted, with some of its code points to be highlighted. */
	addMarked(before: string[], prefix: string, text: string, ranges: { start: number; end: number }[]): boolean {
		if (!this.add(...before, prefix + text)) return false;
		const start = this.length - 1 - text.length;
		const points = Array.from(text);
		const unit = (end: number) => points.slice(0, end).join("").length;
		for (const range of ranges) this.marks.push({ start: start + unit(range.start), end: start + unit(range.end) });
		return true;
	}

	/** Adds a text line by line, each marked as quoted; as much of it as there is room for. */
	quote(prefix: string, text: string): boolean {
		return clean(text.replace(/\r\n/g, "\n"))
			.split("\n")
			.every((line) => this.fitted(prefix + line));
	}

	done(): Page {
		const lines = this.cut ? [...this.lines, this.closing] : this.lines;
		return { text: lines.join("\n"), marks: this.marks, cut: this.cut };
	}

	private fitted(line: string): boolean {
		const room = this.budget - this.length - 1;
		if (!this.cut && line.length > room && room > 40) this.add(`${line.slice(0, room - 1).toWellFormed()}…`);
		return this.add(line);
	}
}
