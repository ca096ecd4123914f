/** What Pi makes of a session file. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

/** Facts of the lines themselves, by the rules Pi reads them with. */
function lineFacts(buffer) {
  const lines = buffer.toString("utf8").split("\n");
  const last = lines.pop(); // empty where the file ends in LF
  const facts = { blankLines: 0, malformedLines: 0, falsyLines: 0, nonObjectLines: 0 };
  const look = (line) => {
    if (!line.trim()) {
      facts.blankLines++;
      return "blank";
    }
    let value;
    try {
      value = JSON.parse(line);
    } catch {
      facts.malformedLines++;
      return "partial";
    }
    if (!value) facts.falsyLines++;
    else if (typeof value !== "object" || Array.isArray(value)) facts.nonObjectLines++;
    if (facts.versionOnDisk === undefined && value?.type === "session")
      facts.versionOnDisk = value.version ?? null;
    return "complete-without-newline";
  };
  lines.forEach(look);
  facts.trailing = last === "" ? "newline" : look(last);
  facts.versionOnDisk ??= null;
  return facts;
}

/** What opening the file did to it. */
function change(before, after) {
  if (after.equals(before)) return "no";
  const grown =
    after.length === before.length + 1 && after.subarray(0, before.length).equals(before);
  return grown ? "newline-appended" : "rewritten";
}

function lineage(entries) {
  const seen = new Set();
  const duplicates = new Set();
  for (const e of entries) {
    if (seen.has(e.id)) duplicates.add(e.id);
    seen.add(e.id);
  }
  const children = {};
  const orphans = [];
  for (const e of entries) {
    if (e.parentId == null) continue;
    (children[e.parentId] ??= []).push(e.id);
    if (!seen.has(e.parentId)) orphans.push(e.id);
  }
  return { duplicateIds: [...duplicates], children, orphans };
}

/** Pi walks parentId from the leaf without looking back: on a cycle it never returns. */
function cyclic(sm, entries) {
  const path = new Set();
  let at = sm.getLeafId() ? sm.getEntry(sm.getLeafId()) : entries.at(-1);
  while (at && !path.has(at)) {
    path.add(at);
    at = at.parentId ? sm.getEntry(at.parentId) : undefined;
  }
  return at?.id;
}

function labelsOf(sm, entries) {
  const targets = entries.filter((e) => e?.type === "label").map((e) => e.targetId);
  const labels = {};
  for (const id of new Set([...entries.map((e) => e.id), ...targets])) {
    const label = id === undefined ? undefined : sm.getLabel(id);
    if (label !== undefined) labels[id] = label;
  }
  return labels;
}

function contextOf(pi, sm, attempt) {
  const entries = attempt("contextEntries", () => sm.buildContextEntries());
  const projection = attempt("projected", () => sm.buildSessionProjection());
  const edits = {};
  for (const e of entries ?? []) if (e?.type === "context_edit") edits[e.targetId] = e.id;
  return {
    contextEntries: entries?.map((e) => e.id ?? null) ?? null,
    contextCompactionId: entries?.find((e) => e?.type === "compaction")?.id ?? null,
    effectiveEdits: edits,
    projected:
      projection?.entries.map((p) => ({
        id: p.sourceEntry.id ?? null,
        // Messages left in the request to the model.
        llmCount: attempt("llm", () => pi.convertToLlm(p.messages).length),
      })) ?? null,
  };
}

/** Everything about one file. Pi gets a copy, as opening may migrate it or end its last line. */
export function describe(pi, file) {
  const dir = mkdtempSync(join(tmpdir(), "pi-oracle-"));
  try {
    const copy = join(dir, basename(file));
    copyFileSync(file, copy);
    const before = readFileSync(copy);
    const facts = { file, ...lineFacts(before) };
    let sm;
    try {
      sm = pi.SessionManager.open(copy);
    } catch (e) {
      return { ...facts, error: String(e?.message ?? e).replaceAll(copy, file) };
    }
    const errors = {};
    const attempt = (name, question) => {
      try {
        return question();
      } catch (e) {
        errors[name] = String(e?.message ?? e);
        return null;
      }
    };
    const entries = sm.getEntries();
    const header = sm.getHeader();
    Object.assign(facts, {
      sessionId: sm.getSessionId(),
      cwd: header?.cwd ?? null,
      parentSession: header?.parentSession ?? null,
      leafId: sm.getLeafId() ?? null,
      order: entries.map((e) => e?.id ?? null),
    });
    const circle = cyclic(sm, entries);
    if (circle !== undefined)
      return {
        ...facts,
        error: `cyclic parentId on the path from the leaf (${circle}): Pi never returns`,
      };
    return {
      ...facts,
      openChangedFile: change(before, readFileSync(copy)),
      name: sm.getSessionName() ?? null,
      ...lineage(entries),
      labels: labelsOf(sm, entries),
      branch: attempt("branch", () => sm.getBranch().map((e) => e.id ?? null)),
      roots: attempt("tree", () => sm.getTree())?.map((n) => n.entry.id) ?? null,
      ...contextOf(pi, sm, attempt),
      errors,
    };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
