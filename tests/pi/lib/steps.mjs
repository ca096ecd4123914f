/** What happens in a session: turns, moves in the tree, and everything between. */
import { tick, writers } from "./writers.mjs";

/**
 * User, rounds of assistant calls and their results, assistant: with results that never came and
 * failed attempts. Calls `each(id)` for every entry.
 */
export async function turn(ctx, each) {
  const { rng } = ctx;
  const put = async (id) => {
    await each(id);
    return id;
  };
  await put(writers.user(ctx));
  for (let round = rng.int(0, 2); round > 0; round--) {
    tick(ctx);
    const { id, calls } = writers.assistant(ctx, { tools: rng.int(1, 3) });
    await put(id);
    tick(ctx);
    for (const call of calls) {
      if (rng.chance(0.04)) continue; // result never arrived (process killed)
      await put(writers.toolResult(ctx, call));
    }
  }
  tick(ctx);
  if (rng.chance(0.1)) {
    // failed attempt, omitted from context as Pi's recovery does, then retried
    const bad = writers.assistant(ctx, { stop: rng.pick(["error", "aborted"]) });
    await put(bad.id);
    if (rng.chance(0.7)) await put(ctx.sm.appendContextEdit(bad.id, null));
  }
  await put(writers.assistant(ctx, {}).id);
}

export const STEPS = [
  ["turn", 36],
  ["bash", 9],
  ["customState", 4],
  ["customMessage", 5],
  ["usage", 2],
  ["model", 2],
  ["thinkingLevel", 2],
  ["name", 4],
  ["label", 6],
  ["contextEdit", 6],
  ["compaction", 5],
  ["system", 2],
  ["branch", 7],
  ["branchSummary", 4],
  ["resetLeaf", 1],
  ["reopen", 3],
];

/** Runs one random step and returns its name. `ctx.reopen()` may replace ctx.sm. */
export async function step(ctx, each, only) {
  const name = ctx.rng.weighted(only ?? STEPS);
  tick(ctx);
  switch (name) {
    case "turn":
      await turn(ctx, each);
      break;
    case "branch":
      ctx.sm.branch(ctx.rng.pick(ctx.sm.getEntries()).id);
      await turn(ctx, each);
      break;
    case "resetLeaf":
      ctx.sm.resetLeaf();
      await turn(ctx, each);
      break;
    case "reopen":
      ctx.reopen?.();
      break;
    default: {
      const id = writers[name](ctx);
      if (id) await each(id);
    }
  }
  return name;
}
