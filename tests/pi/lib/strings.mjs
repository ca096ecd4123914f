/** Every string of an entry with the kind its place implies, whatever it was written for. */
export function* strings(e) {
  const blocks = function* (content, kind, ex = {}) {
    if (typeof content === "string") {
      yield { kind, text: content, ...ex };
      return;
    }
    for (const b of Array.isArray(content) ? content : []) {
      if (b.type === "text") {
        yield { kind, text: b.text, ...ex };
        if (b.textSignature) yield { kind: "signature", text: b.textSignature };
      } else if (b.type === "image") yield { kind: "image", text: b.data };
      else if (b.type === "thinking") {
        yield { kind: "thinking", text: b.thinking };
        if (b.thinkingSignature) yield { kind: "signature", text: b.thinkingSignature };
      } else if (b.type === "toolCall") {
        yield {
          kind: "tool.call",
          text: `${b.name} ${JSON.stringify(b.arguments)}`,
          toolName: b.name,
        };
        if (b.thoughtSignature) yield { kind: "signature", text: b.thoughtSignature };
      }
    }
  };
  const json = (v) => JSON.stringify(v ?? null);
  const m = e.message;
  switch (e.type) {
    case "message":
      if (m.role === "user") yield* blocks(m.content, "user.text");
      else if (m.role === "assistant") {
        yield* blocks(m.content, "assistant.text");
        if (m.errorMessage) yield { kind: "assistant.error", text: m.errorMessage };
      } else if (m.role === "toolResult") {
        yield* blocks(m.content, "tool.result", { toolName: m.toolName, isError: m.isError });
        yield { kind: "details", text: json(m.details) };
        yield { kind: "nested-call", text: json(m.nestedCalls) };
      } else if (m.role === "bashExecution") {
        yield { kind: "bash.command", text: m.command };
        yield { kind: "bash.output", text: m.output };
        yield { kind: "bash.path", text: m.fullOutputPath ?? "" };
      } else if (m.role === "system") yield { kind: "system", text: json(m) };
      break;
    case "compaction":
      yield { kind: "summary.compaction", text: e.summary };
      yield { kind: "details", text: json(e.details) };
      yield { kind: "system", text: json(e.systemMessage) };
      break;
    case "branch_summary":
      yield { kind: "summary.branch", text: e.summary };
      yield { kind: "details", text: json(e.details) };
      break;
    case "custom":
      yield { kind: "custom-state", text: json([e.customType, e.data]) };
      break;
    case "custom_message":
      yield { kind: "custom.message", text: e.customType };
      yield* blocks(e.content, "custom.message");
      yield { kind: "details", text: json(e.details) };
      break;
    case "session_info":
      yield { kind: "session.name", text: e.name ?? "" };
      break;
    case "label":
      yield { kind: "label", text: e.label ?? "" };
      break;
    case "context_edit":
      yield { kind: "context-edit", text: json(e.replacement) };
      break;
    case "usage":
      yield { kind: "usage", text: json(e) };
      break;
    case "model_change":
      yield { kind: "model", text: json([e.provider, e.modelId]) };
      break;
  }
}
