/** One running server: frames out, answers in. Nothing here keeps Pi from ending, except an answer waited for. */
import { type ChildProcess, spawn } from "node:child_process";
import type { Program } from "./python.ts";

/** A failure as the server tells it. */
export class ServerError extends Error {
	readonly word: string | undefined;
	constructor(message: string, word?: string) {
		super(message);
		this.word = word;
	}
}

/** The server is gone; another one could answer. */
export class Gone extends Error {}

/** The caller does not want the answer any more. */
export class Aborted extends Error {
	constructor() {
		super("The call was aborted.");
	}
}

/** The answer did not come in time. */
export class Late extends Error {}

export interface CallOptions {
	/** Milliseconds. */
	deadline: number;
	signal?: AbortSignal | undefined;
}

interface Waiting {
	resolve: (result: unknown) => void;
	reject: (error: Error) => void;
}

/** Characters of one answer; more than the server's budgets allow is no answer. */
const MAX_ANSWER = 32 * 1024 * 1024;
/** Milliseconds between asking a server to end and making it. */
const KILL_AFTER = 3000;
/** Characters of standard error that are kept to say why a server did not start. */
const MAX_COMPLAINT = 2000;

export class Connection {
	/** What the server last wrote to standard error. */
	complaint = "";
	private readonly child: ChildProcess;
	private readonly waiting = new Map<number, Waiting>();
	private readonly ended: (reason: string) => void;
	private next = 0;
	private parts: string[] = [];
	private length = 0;
	private open = true;

	/** Whether it ended by itself or made no sense, so that another one would do the same. */
	resigned = false;

	/** Starts a server. `ended` is called once, when it is gone for whatever reason. */
	constructor(program: Program, cwd: string, env: NodeJS.ProcessEnv, ended: (reason: string) => void) {
		this.ended = ended;
		this.child = spawn(program.command, program.args, { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
		const { stdin, stdout, stderr } = this.child;
		this.child.on("error", (error) => {
			this.resigned = true;
			this.end(error.message);
		});
		this.child.on("exit", (code, signal) => {
			this.resigned = signal === null;
			this.end(`it ended with ${signal ?? code}`);
		});
		// A pipe that breaks is followed by the exit, which says why.
		for (const stream of [stdin, stdout, stderr]) stream?.on("error", () => {});
		stdout?.setEncoding("utf8").on("data", (text: string) => this.receive(text));
		stderr?.setEncoding("utf8").on("data", (text: string) => {
			this.complaint = (this.complaint + text).slice(-MAX_COMPLAINT);
		});
		this.child.unref();
		for (const stream of [stdin, stdout, stderr]) (stream as unknown as { unref?: () => void } | null)?.unref?.();
	}

	/** Asks, and waits for the answer. While it waits, its deadline keeps the process running. */
	call(method: string, params: object, { deadline, signal }: CallOptions): Promise<unknown> {
		if (!this.open) return Promise.reject(new Gone("the server is gone"));
		if (signal?.aborted) return Promise.reject(new Aborted());
		const id = ++this.next;
		return new Promise((resolve, reject) => {
			const done = () => {
				clearTimeout(timer);
				signal?.removeEventListener("abort", abort);
				this.waiting.delete(id);
			};
			const giveUp = (error: Error) => {
				done();
				this.notify("$/cancel", { id });
				reject(error);
			};
			const abort = () => giveUp(new Aborted());
			const timer = setTimeout(() => giveUp(new Late(`no answer within ${deadline / 1000} s`)), deadline);
			signal?.addEventListener("abort", abort, { once: true });
			this.waiting.set(id, {
				resolve: (result) => {
					done();
					resolve(result);
				},
				reject: (error) => {
					done();
					reject(error);
				},
			});
			this.send({ id, method, params });
		});
	}

	/** Tells something that is not answered. */
	notify(method: string, params: object): void {
		if (this.open) this.send({ method, params });
	}

	/** Ends the server: its input is closed, it gets a signal, and soon one that cannot be ignored. */
	close(): void {
		this.child.stdin?.end();
		this.child.kill("SIGTERM");
		setTimeout(() => this.child.kill("SIGKILL"), KILL_AFTER).unref();
		this.end("it was closed");
	}

	private giveUp(): void {
		this.resigned = true;
		this.close();
	}

	private send(message: object): void {
		this.child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
	}

	private receive(text: string): void {
		const lines = text.split("\n");
		const rest = lines.pop() ?? "";
		for (const line of lines) {
			this.parts.push(line);
			this.answer(this.parts.join(""));
			this.parts = [];
			this.length = 0;
		}
		this.parts.push(rest);
		this.length += rest.length;
		if (this.length > MAX_ANSWER) this.giveUp();
	}

	private answer(line: string): void {
		let frame: { id?: unknown; result?: unknown; error?: { message?: unknown; data?: { code?: unknown } } };
		try {
			frame = JSON.parse(line);
		} catch {
			this.giveUp();
			return;
		}
		const waiting = typeof frame?.id === "number" ? this.waiting.get(frame.id) : undefined;
		if (!waiting) return; // it was given up
		if (frame.error) {
			const word = frame.error.data?.code;
			waiting.reject(new ServerError(String(frame.error.message), typeof word === "string" ? word : undefined));
		} else {
			waiting.resolve(frame.result);
		}
	}

	private end(reason: string): void {
		if (!this.open) return;
		this.open = false;
		for (const waiting of [...this.waiting.values()]) waiting.reject(new Gone(reason));
		this.ended(reason);
	}
}
