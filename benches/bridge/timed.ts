/** The extension, and how long its handlers keep Pi waiting: a JSON line each, appended to the file that TIMES names. */
import { appendFileSync } from "node:fs";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import extension from "../../python/pi_event_search/pi_extension/src/extension.ts";

type Handler = (...args: unknown[]) => unknown;

function note(what: string, begun: number): void {
	const line = { what, ms: performance.now() - begun, at: Date.now() };
	appendFileSync(process.env.TIMES ?? "/dev/null", `${JSON.stringify(line)}\n`);
}

/** A handler that tells how long it took, and how long what it put off took. */
function timed(event: string, handler: Handler): Handler {
	return async (...args) => {
		const { setImmediate } = globalThis;
		globalThis.setImmediate = ((action: () => void) =>
			setImmediate(() => {
				const begun = performance.now();
				action();
				note(`put off by ${event}`, begun);
			})) as typeof setImmediate;
		const begun = performance.now();
		let result: unknown;
		try {
			result = handler(...args);
		} finally {
			globalThis.setImmediate = setImmediate;
		}
		await result;
		note(event, begun);
		return result;
	};
}

export default function (pi: ExtensionAPI): void {
	const on = (event: string, handler: Handler) => Reflect.apply(pi.on, pi, [event, timed(event, handler)]);
	const get = (target: ExtensionAPI, name: string | symbol) => (name === "on" ? on : Reflect.get(target, name));
	extension(new Proxy(pi, { get }));
}
