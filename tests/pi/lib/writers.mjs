/** One writer an entry type: random entries of every kind, written by Pi's SessionManager. */
import { ABSENT, image, longText, say, SUPPRESSED_TOOLS, WORDS } from "./markers.mjs";

const usageOf = (rng) => {
  const input = rng.int(10, 9000);
  const output = rng.int(1, 900);
  return {
    input,
    output,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: input + output,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  };
};

const TOOLS = [
  ["bash", 5],
  ["read", 4],
  ["edit", 3],
  ["write", 2],
  ["grep", 1],
  ["deploy_probe", 2],
  ["mcp__docs__lookup", 1],
  ["event_search", 2],
  ["event_read", 1],
  ["event_trace", 1],
];

function oldMarker(ctx) {
  // An earlier marker that can be found, for retrieval tools to repeat.
  const all = [...ctx.markers.records.values()].filter(
    (r) => !ABSENT.has(r.kind) && !SUPPRESSED_TOOLS.has(r.toolName),
  );
  return all.length ? ctx.rng.pick(all).marker : "nothing";
}

function toolArgs(ctx, name) {
  const { rng } = ctx;
  const ex = { toolName: name };
  switch (name) {
    case "bash":
      return {
        command: `grep -rn '${ctx.markers.next("tool.call", ex)}' src | head -${rng.int(1, 9)}`,
        ...(rng.chance(0.3) ? { timeout: 30 } : {}),
      };
    case "read":
      return {
        path: `src/${rng.pick(WORDS)}/${ctx.markers.next("tool.call", ex)}.ts`,
        ...(rng.chance(0.4) ? { offset: rng.int(1, 90), limit: rng.int(10, 200) } : {}),
      };
    case "edit":
      return {
        path: `src/${rng.pick(WORDS)}.ts`,
        edits: [{ oldText: say(ctx, "tool.call", ex, "code"), newText: say(ctx, "tool.call", ex) }],
      };
    case "write":
      return {
        path: `docs/${ctx.markers.next("tool.call", ex)}.md`,
        content: say(ctx, "tool.call", ex),
      };
    case "grep":
      return { pattern: ctx.markers.next("tool.call", ex), path: ".", ignoreCase: true };
    case "event_search":
      return {
        query: `${oldMarker(ctx)} ${ctx.markers.next("tool.call", ex)}`,
        kinds: ["user.text"],
      };
    case "event_read":
    case "event_trace":
      return {
        sessionId: ctx.sm.getSessionId(),
        entryId: ctx.sm.getLeafId() ?? "none",
        note: ctx.markers.next("tool.call", ex),
      };
    default:
      return {
        target: rng.pick(WORDS),
        options: { deep: [{ note: say(ctx, "tool.call", ex) }, true, null, rng.int(1, 9)] },
        [ctx.rng.pick(WORDS)]: 1,
      };
  }
}

/** Moves the clock on, mostly. */
export function tick(ctx, lo = 1, hi = 45_000) {
  return ctx.clock.advance(ctx.rng.chance(0.15) ? 0 : ctx.rng.int(lo, hi));
}

export const writers = {
  user(ctx) {
    const { rng } = ctx;
    let content;
    const r = rng.float();
    if (r < 0.35) content = say(ctx, "user.text");
    else if (r < 0.42) content = longText(ctx, "user.text", rng.int(8_000, 30_000));
    else {
      content = Array.from({ length: rng.int(1, 3) }, () => ({
        type: "text",
        text: say(ctx, "user.text"),
      }));
      if (rng.chance(0.25)) content.splice(rng.int(0, content.length), 0, image(ctx));
    }
    return ctx.sm.appendMessage({ role: "user", content, timestamp: ctx.clock.now() });
  },
  assistant(ctx, { tools = 0, stop } = {}) {
    const { rng } = ctx;
    const content = [];
    if (rng.chance(0.45)) {
      content.push(
        rng.chance(0.2)
          ? {
              type: "thinking",
              thinking: "",
              thinkingSignature: `sig-${ctx.markers.next("signature")}`,
              redacted: true,
            }
          : {
              type: "thinking",
              thinking: say(ctx, "thinking"),
              ...(rng.chance(0.4)
                ? { thinkingSignature: `sig-${ctx.markers.next("signature")}` }
                : {}),
            },
      );
    }
    if (tools === 0 || rng.chance(0.55))
      content.push({
        type: "text",
        text: say(ctx, "assistant.text"),
        ...(rng.chance(0.1)
          ? { textSignature: `{"v":1,"id":"${ctx.markers.next("signature")}"}` }
          : {}),
      });
    const calls = [];
    for (let i = 0; i < tools; i++) {
      const name = rng.weighted(TOOLS);
      const call = {
        type: "toolCall",
        id: `call_${ctx.markers.seed}_${ctx.nextCall()}`,
        name,
        arguments: toolArgs(ctx, name),
        ...(rng.chance(0.1) ? { thoughtSignature: ctx.markers.next("signature") } : {}),
      };
      content.push(call);
      calls.push(call);
      if (rng.chance(0.1)) content.push({ type: "text", text: say(ctx, "assistant.text") });
    }
    const stopReason = stop ?? (tools ? "toolUse" : "stop");
    const id = ctx.sm.appendMessage({
      role: "assistant",
      content,
      api: "faux-scripted",
      provider: "faux",
      model: "scripted",
      usage: usageOf(rng),
      stopReason,
      ...(stopReason === "error" || stopReason === "aborted"
        ? { errorMessage: `provider said ${ctx.markers.next("assistant.error")}` }
        : {}),
      timestamp: ctx.clock.now(),
      thinkingLevel: "medium",
    });
    return { id, calls };
  },
  toolResult(ctx, call) {
    const { rng } = ctx;
    const isError = rng.chance(0.22);
    const ex = { toolName: call.name, isError };
    let text;
    if (call.name === "event_search")
      text = JSON.stringify({
        hits: [
          {
            entryId: "deadbeef",
            snippet: `... ${oldMarker(ctx)} ${ctx.markers.next("tool.result", ex)} ...`,
          },
        ],
      });
    else if (ctx.big > 0 && (call.name === "bash" || call.name === "read") && rng.chance(0.5)) {
      ctx.big--;
      text = longText(ctx, "tool.result", 200_000, ex);
    } else text = say(ctx, "tool.result", ex);
    const content = [{ type: "text", text }];
    if (rng.chance(0.15)) content.push({ type: "text", text: say(ctx, "tool.result", ex) });
    if (call.name === "read" && rng.chance(0.3)) content.push(image(ctx));
    return ctx.sm.appendMessage({
      role: "toolResult",
      toolCallId: call.id,
      toolName: call.name,
      content,
      isError,
      ...(rng.chance(0.4)
        ? { details: { diff: `+ ${ctx.markers.next("details")}`, firstChangedLine: 3 } }
        : {}),
      ...(rng.chance(0.05)
        ? {
            nestedCalls: {
              calls: [
                {
                  id: `${call.id}/1`,
                  name: "event_search",
                  arguments: { query: ctx.markers.next("nested-call") },
                  status: "ok",
                  durationMs: 1,
                },
              ],
              complete: true,
            },
          }
        : {}),
      timestamp: ctx.clock.now(),
    });
  },
  bash(ctx) {
    const { rng } = ctx;
    const exitCode = rng.weighted([
      [0, 6],
      [1, 3],
      [127, 1],
      [undefined, 1],
    ]);
    const big = ctx.big > 0 && rng.chance(0.3);
    if (big) ctx.big--;
    const ex = { exitCode: exitCode ?? null };
    return ctx.sm.appendMessage({
      role: "bashExecution",
      command: rng.chance(0.5)
        ? `ls -la ${ctx.markers.next("bash.command", ex)}`
        : say(ctx, "bash.command", ex),
      output: big
        ? longText(ctx, "bash.output", 200_000, ex)
        : rng.chance(0.1)
          ? ""
          : say(ctx, "bash.output", ex),
      exitCode,
      cancelled: exitCode === undefined,
      truncated: big,
      ...(big ? { fullOutputPath: `/var/tmp/pi-bash-${ctx.markers.next("bash.path")}.log` } : {}),
      timestamp: ctx.clock.now(),
      excludeFromContext: rng.chance(0.35) ? true : rng.chance(0.5) ? false : undefined,
    });
  },
  system(ctx, first = false) {
    const mk = () => ctx.markers.next("system");
    return ctx.sm.appendMessage(
      first
        ? {
            role: "system",
            content: "",
            sections: {
              preamble: `You are an assistant. ${mk()}`,
              tools: `<tools>\n- read ${mk()}\n</tools>`,
              cwd: ctx.sm.getCwd(),
            },
            toolsAdded: [
              {
                name: "read",
                description: `Read files ${mk()}`,
                parameters: { type: "object", properties: {} },
              },
            ],
            timestamp: ctx.clock.now(),
          }
        : {
            role: "system",
            content: ctx.rng.chance(0.5)
              ? `Note ${mk()}`
              : [{ type: "text", text: `Note ${mk()}` }],
            sections: { skills: ctx.rng.chance(0.3) ? null : `<skills>${mk()}</skills>` },
            ...(ctx.rng.chance(0.4) ? { toolsRemoved: [{ name: "write" }] } : {}),
            timestamp: ctx.clock.now(),
          },
    );
  },
  customState(ctx) {
    return ctx.sm.appendCustomEntry(ctx.rng.pick(["todo-state", "pi.virtual-model-state", "lab"]), {
      note: say(ctx, "custom-state"),
      list: [1, { deep: ctx.markers.next("custom-state") }],
    });
  },
  customMessage(ctx) {
    const { rng } = ctx;
    const content = rng.chance(0.5)
      ? say(ctx, "custom.message")
      : [
          { type: "text", text: say(ctx, "custom.message") },
          ...(rng.chance(0.3) ? [image(ctx)] : []),
        ];
    const customType = rng.chance(0.3)
      ? `review-${ctx.markers.next("custom.message", { inCustomType: true })}`
      : "review-reminder";
    return ctx.sm.appendCustomMessageEntry(
      customType,
      content,
      rng.chance(0.7),
      rng.chance(0.5) ? { secret: ctx.markers.next("details") } : undefined,
    );
  },
  usage(ctx) {
    return ctx.sm.appendUsage(
      ctx.rng.pick(["cache_warm", "classifier"]),
      "faux",
      "scripted",
      usageOf(ctx.rng),
      ctx.rng.chance(0.5) ? `note ${ctx.markers.next("usage")}` : undefined,
    ).id;
  },
  model(ctx) {
    return ctx.sm.appendModelChange("faux", `model-${ctx.markers.next("model")}`);
  },
  thinkingLevel(ctx) {
    return ctx.sm.appendThinkingLevelChange(ctx.rng.pick(["off", "low", "medium", "high"]));
  },
  name(ctx) {
    return ctx.sm.appendSessionInfo(
      ctx.rng.chance(0.25)
        ? ""
        : ctx.rng.chance(0.3)
          ? `  multi\nline ${ctx.markers.next("session.name")} \n`
          : `Session ${say(ctx, "session.name")}`,
    );
  },
  label(ctx) {
    const all = ctx.sm.getEntries();
    const labelled = all.filter((e) => ctx.sm.getLabel(e.id));
    if (labelled.length && ctx.rng.chance(0.35))
      return ctx.sm.appendLabelChange(
        ctx.rng.pick(labelled).id,
        ctx.rng.chance(0.5) ? undefined : "",
      );
    return ctx.sm.appendLabelChange(ctx.rng.pick(all).id, `label ${ctx.markers.next("label")}`);
  },
  contextEdit(ctx) {
    const ok = ctx.sm
      .getBranch()
      .filter(
        (e) =>
          e.type === "custom_message" ||
          (e.type === "message" && ["user", "assistant", "toolResult"].includes(e.message.role)),
      );
    if (!ok.length) return undefined;
    const r = ctx.rng.float();
    const replacement =
      r < 0.4
        ? null
        : {
            content:
              r < 0.8
                ? say(ctx, "context-edit")
                : [{ type: "text", text: say(ctx, "context-edit") }],
          };
    return ctx.sm.appendContextEdit(ctx.rng.pick(ok).id, replacement);
  },
  compaction(ctx) {
    const branch = ctx.sm.getBranch();
    if (branch.length < 4) return undefined;
    const goal = say(ctx, "summary.compaction");
    const summary = `## Goal\n${goal}\n\n## Next Steps\n1. ${ctx.rng.pick(WORDS)}`;
    const r = ctx.rng.float();
    const cut = (e) =>
      ["custom_message", "branch_summary"].includes(e.type) ||
      (e.type === "message" && ["user", "assistant", "bashExecution"].includes(e.message.role));
    const keep =
      r < 0.25
        ? null
        : ((r < 0.85 ? ctx.rng.pick(branch.filter(cut).slice(-12)) : ctx.rng.pick(branch))?.id ??
          null);
    return ctx.sm.appendCompaction(
      summary,
      keep,
      ctx.rng.int(1_000, 190_000),
      ctx.rng.chance(0.6)
        ? { readFiles: [`src/${ctx.markers.next("details")}.ts`], modifiedFiles: ["src/a.ts"] }
        : undefined,
      ctx.rng.chance(0.3) ? true : undefined,
      ctx.rng.chance(0.5) ? usageOf(ctx.rng) : undefined,
    );
  },
  branchSummary(ctx) {
    const all = ctx.sm.getEntries();
    const target = ctx.rng.chance(0.15) ? null : ctx.rng.pick(all).id;
    return ctx.sm.branchWithSummary(
      target,
      `The user explored ${say(ctx, "summary.branch")}`,
      ctx.rng.chance(0.5)
        ? { readFiles: [], modifiedFiles: [`lib/${ctx.markers.next("details")}.ts`] }
        : undefined,
      ctx.rng.chance(0.3) ? true : undefined,
    );
  },
};
