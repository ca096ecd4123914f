/** What a generated set of sessions holds, read back from the files. */
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { expectation, SUPPRESSED_TOOLS } from "./markers.mjs";
import { strings } from "./strings.mjs";

/** Header and entries of a whole session file. */
function recordsOf(file) {
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  const [header, ...entries] = lines.map((line) => JSON.parse(line));
  return { header, entries };
}

/** Marker -> its places: each entry, in each file, that carries it, and as what. */
function placesOf(sessions, seed) {
  const pattern = new RegExp(`mk${seed}x\\d{5}`, "g");
  const places = new Map();
  for (const { header, entries } of sessions)
    for (const entry of entries)
      for (const { text, kind, toolName } of strings(entry))
        for (const marker of text?.match(pattern) ?? []) {
          const suppressed = SUPPRESSED_TOOLS.has(toolName);
          const place = { sessionId: header.id, entryId: entry.id, kind, suppressed };
          if (!places.has(marker)) places.set(marker, new Map());
          places.get(marker).set(Object.values(place).join(), place);
        }
  return places;
}

/**
 * `sessions[]` {file, sessionId, cwd, cwdClass, how, parentSession?, entryCount} and `markers[]`
 * {marker, kind, expect, aliases?, toolName?, position?, locations[]}; `files` are {file, how}.
 */
export function manifestOf({ out, seed, files, cwds, markers }) {
  const read = files.map((f) => ({ ...f, ...recordsOf(f.file) }));
  const places = placesOf(read, seed);
  return {
    sessions: read.map(({ file, how, header, entries }) => ({
      file: relative(out, file),
      sessionId: header.id,
      cwd: header.cwd,
      cwdClass: Object.keys(cwds).find((name) => cwds[name] === header.cwd),
      how,
      ...(header.parentSession ? { parentSession: relative(out, header.parentSession) } : {}),
      entryCount: entries.length,
    })),
    markers: [...markers.records.values()].map((record) => ({
      ...record,
      expect: expectation(record),
      locations: [...(places.get(record.marker)?.values() ?? [])],
    })),
  };
}
