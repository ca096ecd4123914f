#!/usr/bin/env node
/**
 * generate.mjs --seed N --out DIR --sessions K --steps M [--mixed-cwd]
 * Writes K session files with Pi's own SessionManager below DIR/agent, and DIR/manifest.json
 * (lib/manifest.mjs). Equal arguments give equal bytes. With --mixed-cwd some sessions belong to
 * a directory below the project, beside it with its name as prefix, or far away.
 */
import { existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { manifestOf } from "./lib/manifest.mjs";
import { Markers } from "./lib/markers.mjs";
import { isolate, loadPi, parseArgs } from "./lib/pi.mjs";
import { installDeterminism, Rng } from "./lib/random.mjs";
import { step, STEPS, turn } from "./lib/steps.mjs";
import { writers } from "./lib/writers.mjs";

const WAYS = Object.entries({ create: 60, clone: 10, branched: 10, fork: 10, child: 5, named: 5 });

const opt = parseArgs(process.argv.slice(2), {
  seed: "int",
  out: "str",
  sessions: "int",
  steps: "int",
  "mixed-cwd": "flag",
});
if (opt.seed === undefined || !opt.out || opt._.length) {
  console.error("usage: generate.mjs --seed N --out DIR --sessions K --steps M [--mixed-cwd]");
  process.exit(2);
}
const out = resolve(opt.out);
if (existsSync(join(out, "manifest.json"))) {
  console.error(`${out} holds a set already: choose an empty directory`);
  process.exit(2);
}
const project = join(out, "project");
const cwds = {
  same: project,
  descendant: join(project, "packages", "a"),
  prefixTrap: `${project}-other`,
  foreign: join(out, "elsewhere"),
};
for (const dir of Object.values(cwds)) mkdirSync(dir, { recursive: true });
isolate(join(out, "agent"));
const clock = installDeterminism(opt.seed);
const { SessionManager } = await loadPi();

const rng = new Rng(opt.seed);
const markers = new Markers(opt.seed);
const steps = opt.steps ?? 25;
const files = []; // {file, how}, in the order of their making
let calls = 0;
const ignore = async () => {};

const pickCwd = () =>
  opt["mixed-cwd"]
    ? cwds[rng.weighted(Object.entries({ same: 7, descendant: 3, prefixTrap: 1, foreign: 2 }))]
    : project;
const pickParent = () => rng.pick(files.filter((f) => existsSync(f.file))).file;

function context(sm) {
  return {
    sm,
    rng,
    markers,
    clock,
    big: rng.chance(0.35) ? 1 : 0, // very long texts it may still write
    nextCall: () => ++calls,
    reopen() {
      this.sm = SessionManager.open(this.sm.getSessionFile(), this.sm.getSessionDir());
    },
  };
}

async function opening(ctx) {
  if (rng.chance(0.8)) {
    writers.model(ctx);
    writers.thinkingLevel(ctx);
    if (rng.chance(0.4)) writers.name(ctx);
    writers.system(ctx, true);
  }
  clock.advance(rng.int(1, 5000));
  await turn(ctx, ignore);
}

async function run(ctx, count) {
  for (let i = 0; i < count; i++) await step(ctx, ignore, STEPS);
  // Moving about without an append leaves no trace on disk.
  if (rng.chance(0.12)) ctx.sm.branch(rng.pick(ctx.sm.getEntries()).id);
}

/** /clone and /fork: the path to the leaf, or to some entry, becomes a session of its own. */
async function branchOff(how) {
  const parent = pickParent();
  const sm = SessionManager.open(parent);
  const talks = (e) => e.type === "message" && ["user", "assistant"].includes(e.message.role);
  const hasTalk = (id) => sm.getBranch(id).some(talks);
  const candidates = how === "clone" ? [sm.getLeafEntry()] : sm.getEntries();
  const at = rng.pick(candidates.filter((e) => hasTalk(e.id)))?.id;
  if (at === undefined) return;
  sm.createBranchedSession(at);
  files.push({ file: sm.getSessionFile(), how });
  await run(context(sm), Math.ceil(steps / 2));
  if (rng.chance(0.6)) await run(context(SessionManager.open(parent)), rng.int(1, 4));
}

async function add(how) {
  if (how === "clone" || how === "branched") return await branchOff(how);
  let sm;
  if (how === "fork") {
    sm = SessionManager.forkFrom(pickParent(), pickCwd()); // pi --fork: the whole file
  } else if (how === "child") {
    const parent = pickParent(); // /fork before the first message
    sm = SessionManager.create(SessionManager.open(parent).getCwd());
    sm.newSession({ parentSession: parent });
  } else {
    const id = how === "named" ? { id: `custom.id-${opt.seed}_${files.length}` } : undefined;
    sm = SessionManager.create(pickCwd(), undefined, id);
  }
  files.push({ file: sm.getSessionFile(), how });
  const ctx = context(sm);
  if (how !== "fork") await opening(ctx);
  const whole = how === "create" || how === "named";
  await run(ctx, whole ? steps : Math.ceil(steps / 2));
}

while (files.length < (opt.sessions ?? 10)) {
  clock.advance(rng.int(60_000, 6 * 3_600_000));
  await add(files.length ? rng.weighted(WAYS) : "create");
}
for (const { file } of files) utimesSync(file, clock.now() / 1000, clock.now() / 1000);
const manifest = manifestOf({ out, seed: opt.seed, files, cwds, markers });
writeFileSync(join(out, "manifest.json"), JSON.stringify(manifest, null, 1));
