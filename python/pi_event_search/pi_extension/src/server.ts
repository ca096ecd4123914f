/** Keeps a server running for one session of Pi: starts it, starts it again when it dies, ends it. */
import { Aborted, type CallOptions, Connection, Gone, Late } from "./connection.ts";
import { HELP, type Program } from "./python.ts";

export const PROTOCOL_VERSION = 1;
/** Milliseconds before the first, second, ... new start after one death upon another. */
export const BACK_OFF = [0, 500, 2000, 10_000, 60_000];
/** A server that answered for so long (ms) did not die of what killed the ones before it. */
const STABLE = 30_000;
const START_DEADLINE = 30_000;
/** Milliseconds for one call, a start of the server included. */
export const DEADLINE = 20_000;

/** The tools cannot be used; the message says what to do. */
export class Unavailable extends Error {}

export interface ServerSettings {
	program: () => Program | undefined;
	cwd: string;
	env: NodeJS.ProcessEnv;
	/** What `initialize` is told besides the version. */
	greeting: () => object;
	/** Called with the result of each `initialize`. */
	greeted?: (result: unknown) => void;
}

type State =
	| { is: "stopped" }
	| { is: "resting"; until: number; hopeless: boolean; reason: string; timer: NodeJS.Timeout }
	| { is: "running"; connection: Connection; since: number; ready: Promise<void> };

export class Server {
	private readonly settings: ServerSettings;
	private state: State = { is: "stopped" };
	private deaths = 0;
	private everReady = false;
	private ended = false;

	constructor(settings: ServerSettings) {
		this.settings = settings;
	}

	/** Starts the server, unless it runs or rests after a death. Returns at once. */
	start(): void {
		if (this.ended || this.state.is !== "stopped") return;
		const program = this.settings.program();
		if (!program) return;
		const { cwd, env } = this.settings;
		const connection: Connection = new Connection(program, cwd, env, (reason) => this.died(connection, reason));
		const ready = this.greet(connection);
		ready.catch(() => {}); // whoever waits for it is told; nobody may be waiting
		this.state = { is: "running", connection, since: Date.now(), ready };
	}

	/** Ends the server for good. */
	stop(): void {
		const { state } = this;
		this.ended = true;
		this.state = { is: "stopped" };
		if (state.is === "resting") clearTimeout(state.timer);
		if (state.is === "running") state.connection.close();
	}

	/** Asks; a server that dies over it is replaced once, because every method only reads. */
	async call(method: string, params: object, options: CallOptions): Promise<unknown> {
		const until = Date.now() + options.deadline;
		for (let attempt = 1; ; attempt++) {
			const connection = await this.connected(until, options.signal);
			try {
				return await connection.call(method, params, { ...options, deadline: Math.max(until - Date.now(), 1) });
			} catch (error) {
				if (!(error instanceof Gone) || attempt === 2) throw this.explained(error);
			}
		}
	}

	/** Tells a running server something; without one there is nobody to tell. */
	notify(method: string, params: object): void {
		if (this.state.is === "running") this.state.connection.notify(method, params);
	}

	private async greet(connection: Connection): Promise<void> {
		const params = { protocolVersion: PROTOCOL_VERSION, ...this.settings.greeting() };
		const result = await connection.call("initialize", params, { deadline: START_DEADLINE });
		this.everReady = true;
		this.settings.greeted?.(result);
	}

	/** A server that is ready, waiting for a start and for the rest after a death. */
	private async connected(until: number, signal: AbortSignal | undefined): Promise<Connection> {
		for (;;) {
			this.start();
			const { state } = this;
			if (state.is === "stopped") throw new Unavailable(HELP);
			if (state.is === "resting") {
				if (state.hopeless || state.until > until) throw new Unavailable(this.sentence(state.reason));
				await pause(state.until - Date.now() + 1, signal);
				continue;
			}
			try {
				await within(state.ready, until - Date.now(), signal);
				return state.connection;
			} catch (error) {
				if (!(error instanceof Gone)) throw this.explained(error);
			}
		}
	}

	private died(connection: Connection, reason: string): void {
		const { state } = this;
		if (state.is !== "running" || state.connection !== connection) return; // it was stopped
		this.deaths = Date.now() - state.since > STABLE ? 1 : this.deaths + 1;
		const rest = BACK_OFF[Math.min(this.deaths, BACK_OFF.length) - 1] ?? 0;
		const timer = setTimeout(() => {
			this.state = { is: "stopped" };
			this.start();
		}, rest).unref();
		const why = connection.complaint.trim().split("\n").at(-1) || reason;
		const hopeless = !this.everReady && connection.resigned;
		this.state = { is: "resting", until: Date.now() + rest, hopeless, reason: why, timer };
	}

	private explained(error: unknown): Error {
		if (error instanceof Gone) return new Unavailable(this.sentence(error.message));
		if (error instanceof Late) {
			return new Unavailable(`The history search gave ${error.message}; it may still be starting, so try again.`);
		}
		return error instanceof Error ? error : new Error(String(error));
	}

	private sentence(reason: string): string {
		return this.everReady ? `The history search stopped working (${reason}); try again in a minute.` : HELP;
	}
}

/** Waits, unless the signal ends that. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
	return within(new Promise((resolve) => setTimeout(resolve, Math.max(ms, 0))), ms + 1000, signal);
}

/** Waits for something, but no longer than that, and not after an abort. */
async function within<T>(promise: Promise<T>, ms: number, signal: AbortSignal | undefined): Promise<T> {
	if (signal?.aborted) throw new Aborted();
	let timer: NodeJS.Timeout | undefined;
	let abort: (() => void) | undefined;
	const limit = new Promise<never>((_, reject) => {
		timer = setTimeout(() => reject(new Late("no answer in time")), Math.max(ms, 1));
		abort = () => reject(new Aborted());
		signal?.addEventListener("abort", abort, { once: true });
	});
	try {
		return await Promise.race([promise, limit]);
	} finally {
		clearTimeout(timer);
		if (abort) signal?.removeEventListener("abort", abort);
	}
}
