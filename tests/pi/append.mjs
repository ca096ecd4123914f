#!/usr/bin/env node
/**
 * append.mjs FILE --steps M --seed N [--branching] [--torn-ms T]
 * Appends M entries to a session through Pi's SessionManager. Prints {ready}, then {id, markers[]}
 * whenever an entry is on disk, the markers being those it can be found by. --branching also moves
 * about in the tree. --torn-ms T writes a record in two pieces, T ms apart; the cut may fall inside
 * a character. Before each write, also between two pieces, it takes one byte from stdin until that
 * ends: the reader decides how far this may get.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { resolve } from "node:path";
import { expectation, Markers } from "./lib/markers.mjs";
import { isolate, loadPi, parseArgs, pause, readInput } from "./lib/pi.mjs";
import { Rng } from "./lib/random.mjs";
import { step, STEPS } from "./lib/steps.mjs";

const opt = parseArgs(process.argv.slice(2), {
  steps: "int",
  seed: "int",
  branching: "flag",
  "torn-ms": "int",
});
if (opt._.length !== 1 || !fs.existsSync(opt._[0])) {
  console.error("usage: append.mjs FILE --steps M --seed N [--branching] [--torn-ms T]");
  process.exit(2);
}
const file = resolve(opt._[0]);
isolate();

const byte = Buffer.alloc(1);
let gated = true;
function gate() {
  if (gated) gated = readInput(byte) > 0;
}

const append = fs.appendFileSync;
fs.appendFileSync = (path, data, ...rest) => {
  if (path !== file) return append(path, data, ...rest);
  const bytes = Buffer.from(data, "utf8");
  const cut = opt["torn-ms"] === undefined ? 0 : (bytes.length * 3) >> 2;
  gate();
  if (cut > 0) {
    append(path, bytes.subarray(0, cut));
    pause(opt["torn-ms"]);
    gate();
  }
  append(path, bytes.subarray(cut));
};
syncBuiltinESMExports();
const { SessionManager } = await loadPi();

const moves = ["branch", "branchSummary", "resetLeaf"];
const plan = STEPS.filter(([name]) => opt.branching || !moves.includes(name));
// Far above the numbers that generate.mjs gives out with the same seed.
const markers = new Markers(opt.seed ?? 1, 50_000);
let calls = 900_000;
const ctx = {
  sm: SessionManager.open(file),
  rng: new Rng(markers.seed ^ 0x2545f491),
  markers,
  clock: { now: Date.now, advance: Date.now },
  big: 1,
  nextCall: () => ++calls,
  reopen() {
    this.sm = SessionManager.open(file);
  },
};

process.stdout.write('{"ready": true}\n');

class Enough extends Error {}
let left = opt.steps ?? 10;
let told = 0;
async function tell(id) {
  const fresh = [...markers.records.values()].slice(told);
  told = markers.records.size;
  const found = fresh.filter((r) => expectation(r) === "found").map((r) => r.marker);
  process.stdout.write(`${JSON.stringify({ id, markers: found })}\n`);
  if (--left <= 0) throw new Enough();
}
try {
  while (left > 0) await step(ctx, tell, plan);
} catch (error) {
  if (!(error instanceof Enough)) throw error;
}
