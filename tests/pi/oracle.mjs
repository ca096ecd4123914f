#!/usr/bin/env node
/**
 * oracle.mjs [--timeout-ms 20000] [FILE...]
 * One JSON line a file that says what Pi makes of it (lib/describe.mjs); without files their paths
 * are read from stdin, one a line. A child process does the work, so that a file on which Pi never
 * returns or runs out of memory gives {file, error}.
 */
import { fork } from "node:child_process";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe } from "./lib/describe.mjs";
import { isolate, loadPi, parseArgs } from "./lib/pi.mjs";

const SELF = fileURLToPath(import.meta.url);

async function answerParent() {
  isolate();
  process.on("disconnect", () => process.exit(0));
  const pi = await loadPi();
  process.on("message", (file) => {
    try {
      process.send(describe(pi, file));
    } catch (e) {
      process.send({ file, error: `oracle: ${e?.stack ?? e}` });
    }
  });
  process.send({ ready: true });
}

class Child {
  async start() {
    this.process = fork(SELF, ["--child"], {
      execArgv: ["--max-old-space-size=1024"],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    const first = await this.next();
    if (!first.ready)
      throw new Error(`the oracle's child ended before it was ready (${first.died})`);
    return this;
  }

  next() {
    return new Promise((done) => {
      const settle = (answer) => {
        this.process.removeAllListeners();
        done(answer);
      };
      this.process.once("message", settle);
      this.process.once("exit", (code, signal) => settle({ died: signal ?? code }));
    });
  }

  /** What Pi makes of a file; after `died` the child is of no more use. */
  async ask(file, timeoutMs) {
    const timer = setTimeout(() => this.process.kill("SIGKILL"), timeoutMs);
    this.process.send(file);
    const answer = await this.next();
    clearTimeout(timer);
    return answer;
  }
}

async function main() {
  process.stdout.on("error", () => process.exit(1)); // nobody listens any more
  const opt = parseArgs(process.argv.slice(2), { "timeout-ms": "int" });
  const files = opt._.length ? opt._ : createInterface({ input: process.stdin });
  let child;
  for await (const name of files) {
    const file = resolve(name);
    child ??= await new Child().start();
    let answer = await child.ask(file, opt["timeout-ms"] ?? 20_000);
    if ("died" in answer) {
      child = undefined;
      answer = { file, error: `Pi never returned or ran out of memory (${answer.died})` };
    }
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
  child?.process.disconnect();
}

await (process.argv[2] === "--child" ? answerParent() : main());
