/** Where Pi is, how it is imported without touching the user's own, and arguments of a script. */
import { existsSync, mkdtempSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");

/** Where `make pi` puts Node and Pi. */
export const PI_HOME = process.env.PI_HOME ?? join(ROOT, ".cache", "pi");
const PACKAGE = join(PI_HOME, "node_modules", "@earendil-works", "pi-coding-agent");

/** Gives Pi an agent directory of its own until the process ends, or the one named. */
export function isolate(agentDir) {
  if (agentDir === undefined) {
    const own = mkdtempSync(join(tmpdir(), "pi-agent-"));
    process.on("exit", () => rmSync(own, { recursive: true, force: true }));
    agentDir = own;
  }
  process.env.PI_CODING_AGENT_DIR = agentDir;
  process.env.PI_OFFLINE = "1";
}

/** Pi's public entry point. Whatever replaces parts of Node has to come before. */
export async function loadPi(file = "index.js") {
  const module = join(PACKAGE, "dist", file);
  if (!existsSync(module)) throw new Error(`Pi is not in ${PACKAGE}: run \`make pi\``);
  return await import(pathToFileURL(module).href);
}

export function pause(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Reads from stdin while nothing else runs; 0 at its end. */
export function readInput(buffer) {
  for (;;) {
    try {
      return readSync(0, buffer);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error; // importing Pi makes stdin non-blocking
      pause(1);
    }
  }
}

/** `spec` says of each option whether it is a "flag", an "int" or a "str"; the rest is in `_`. */
export function parseArgs(argv, spec) {
  const out = { _: [] };
  for (let i = 0; i < argv.length; i++) {
    if (!argv[i].startsWith("--")) {
      out._.push(argv[i]);
      continue;
    }
    const name = argv[i].slice(2);
    if (!(name in spec)) throw new Error(`unknown option --${name}`);
    if (spec[name] === "flag") {
      out[name] = true;
      continue;
    }
    const value = argv[++i];
    if (value === undefined) throw new Error(`--${name} needs a value`);
    out[name] = spec[name] === "int" ? Number(value) : value;
    if (spec[name] === "int" && !Number.isInteger(out[name]))
      throw new Error(`--${name} needs an integer`);
  }
  return out;
}
