#!/usr/bin/env node
/**
 * drive.mjs: one command a line on stdin, {"do": ..., ...}; one answer a line on stdout, {"done"}
 * or {"failed": message}. The commands let the real Pi open, copy, export and import sessions.
 *
 * After {"do": "step", "torn": false} Pi pauses behind every change it makes to a session file,
 * tells {"paused": what} and goes on at the next line of stdin; with "torn" it pauses in the middle
 * of a record too.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { isolate, loadPi, readInput } from "./lib/pi.mjs";

let buffered = "";
const chunk = Buffer.alloc(1 << 16);
/** The next line of stdin, read while nothing else runs; undefined at its end. */
function readLine() {
  while (!buffered.includes("\n")) {
    const count = readInput(chunk);
    if (count === 0) return undefined;
    buffered += chunk.toString("utf8", 0, count);
  }
  const end = buffered.indexOf("\n");
  const line = buffered.slice(0, end);
  buffered = buffered.slice(end + 1);
  return line;
}
const tell = (message) => fs.writeSync(1, `${JSON.stringify(message)}\n`);

let stepping; // undefined, or {torn}
function paused(what) {
  if (stepping === undefined) return;
  tell({ paused: what });
  readLine();
}

const { openSync, writeFileSync, appendFileSync } = fs;
const opened = new Set(); // descriptors of session files open for writing
fs.openSync = (path, flags, ...rest) => {
  const fd = openSync(path, flags, ...rest);
  opened.delete(fd);
  if (String(path).endsWith(".jsonl") && String(flags).startsWith("w")) {
    opened.add(fd);
    paused("opened");
  }
  return fd;
};
let writing = false; // Node's own appendFileSync calls writeFileSync
const stepped =
  (write) =>
  (target, data, ...rest) => {
    const session = opened.has(target) || String(target).endsWith(".jsonl");
    if (!session || stepping === undefined || writing) return write(target, data, ...rest);
    const bytes = Buffer.from(data);
    const cut = stepping.torn ? bytes.length >> 1 : 0;
    writing = true;
    try {
      if (cut > 0) {
        write(target, bytes.subarray(0, cut), ...rest);
        paused("torn");
      }
      // The second piece of a file named by its path is appended: writing would replace the first.
      (cut > 0 ? appendFileSync : write)(target, bytes.subarray(cut), ...rest);
    } finally {
      writing = false;
    }
    paused("wrote");
  };
fs.writeFileSync = stepped(writeFileSync);
fs.appendFileSync = stepped(appendFileSync);
syncBuiltinESMExports();
isolate();
const pi = await loadPi();
const { exportSessionToJsonl } = await loadPi("core/session-export.js");

let sm; // the open session
const facts = () => ({
  file: sm.getSessionFile(),
  sessionId: sm.getSessionId(),
  leafId: sm.getLeafId(),
});

/** As much of an agent session as replacing it asks for. */
const session = (manager) => ({
  sessionManager: manager,
  sessionFile: manager.getSessionFile(),
  extensionRunner: { hasHandlers: () => false },
  abort: async () => {},
  dispose: () => {},
});

/** Pi's own runtime around the open session: what slash commands act on. */
async function runtime(method, args) {
  const services = { cwd: sm.getCwd(), agentDir: process.env.PI_CODING_AGENT_DIR };
  const create = async ({ sessionManager }) => ({ session: session(sessionManager), services });
  const host = new pi.AgentSessionRuntime(session(sm), services, create);
  await host[method](...args);
  sm = host.session.sessionManager;
}

const commands = {
  step: (options) => void (stepping = options),
  run: () => void (stepping = undefined),
  open: ({ file }) => void (sm = pi.SessionManager.open(file)),
  /** `pi --fork FILE`, started in `cwd`. */
  forkFrom: ({ file, cwd, dir }) => void (sm = pi.SessionManager.forkFrom(file, cwd, dir)),
  /** /fork at the user message `entry`. */
  fork: ({ entry }) => runtime("fork", [entry]),
  clone: () => runtime("fork", [sm.getLeafId(), { position: "at" }]),
  import: ({ file, cwd }) => runtime("importFromJsonl", [file, cwd]),
  export: ({ file }) => void exportSessionToJsonl(sm, file),
  say: ({ text }) => void sm.appendMessage({ role: "user", content: text, timestamp: Date.now() }),
  /** Any method of the session manager. */
  call: ({ method, args }) => void sm[method](...args),
};

for (let line = readLine(); line !== undefined; line = readLine()) {
  try {
    const { do: name, ...args } = JSON.parse(line);
    await commands[name](args);
    tell({ done: sm === undefined ? null : facts() });
  } catch (error) {
    tell({ failed: String(error?.message ?? error) });
  }
}
