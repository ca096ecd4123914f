/** Marker words: each is unique, so that a search for it has exactly one right answer. */

/** Kinds of text that must never be found. */
export const ABSENT = new Set(
  `thinking custom-state system image details signature context-edit usage model label bash.path
  nested-call`.split(/\s+/),
);
/** Tools whose calls and results are found only when asked for by name. */
export const SUPPRESSED_TOOLS = new Set(["event_search", "event_read", "event_trace"]);

const CN = "零一二三四五六七八九";
const cn = (n) => String(n).replace(/\d/g, (d) => CN[+d]);

/** Hands out markers mk{seed}x{00001} and remembers what was intended for each. */
export class Markers {
  constructor(seed, startAt = 0) {
    this.seed = seed;
    this.n = startAt;
    this.records = new Map();
  }
  next(kind, extra = {}) {
    this.n++;
    const marker = `mk${this.seed}x${String(this.n).padStart(5, "0")}`;
    this.records.set(marker, { marker, kind, ...extra });
    return marker;
  }
  get(marker) {
    return this.records.get(marker);
  }
}

export const WORDS =
  `index parser session branch cache schema worker cursor token delta ledger anchor
vector socket lantern quartz copper meadow harbor timber violet cobalt ember willow`.split(/\s+/);

/** One short text with the marker, in a flavour. Aliases lead to the same event as the marker. */
export function flavoured(rng, markers, marker, flavour) {
  const rec = markers.get(marker);
  rec.flavour = flavour;
  const w = () => rng.pick(WORDS);
  switch (flavour) {
    case "plain":
      return `Please check the ${w()} ${w()}: quartz ${marker} lantern, then report the ${w()}.`;
    case "code":
      return [
        "```ts",
        `export const ${marker} = (${w()}) => ${w()}(${rng.int(1, 999)});`,
        "```",
        `See src/${w()}.ts:${rng.int(1, 400)}.`,
      ].join("\n");
    case "path":
      return `Open src/${w()}/${marker}.test.ts:${rng.int(1, 90)} and ./docs/${w()}.md`;
    case "quotes":
      return `"${marker}" 'x' \\ \\n\t<b>&amp;</b> {"${w()}": [1, 2]} $(${w()}) %s -- */ OR NOT (NEAR`;
    case "chinese": {
      const alias = `探針${cn(markers.seed)}號${cn(+marker.split("x")[1])}終`;
      rec.aliases = [alias];
      return `請檢查資料庫索引 ${marker} 的狀態，${alias}，然後回報結果。`;
    }
    case "japanese": {
      const alias = `探査${cn(markers.seed)}番${cn(+marker.split("x")[1])}完`;
      rec.aliases = [alias];
      return `テスト結果を確認してください ${marker} です。${alias}のデータベース。`;
    }
    case "korean":
      return `데이터베이스 색인 ${marker} 확인 결과를 알려 주세요.`;
    case "cjk-adjacent":
      return `檢查${marker}結果與索引`;
    case "emoji":
      return `🚀 ${marker} 👩‍👩‍👧‍👦 deployed 🎉 to the ${w()} 🇩🇪`;
    case "emoji-adjacent":
      return `done ✅${marker}🔥 ${w()}`;
    case "combining":
      return `cafe\u0301 re\u0301sume\u0301 n\u0303andu\u0301 ${marker} A\u030A Å ﬁne Ⅷ ${w()}`;
    case "rtl":
      return `\u202Bשלום עולם ${marker} مرحبا بالعالم\u202C ${w()}`;
    case "line-separators":
      return `line one\u2028${marker}\u2029line three ${w()}`;
    case "control":
      return `\u001b[31mERROR\u001b[0m ${marker} \u0000\u0007 ${w()} done\r\nnext\ttab`;
    case "lone-surrogate":
      return `cut here \ud83d ${marker} ${w()} \udc00 end`;
    default:
      throw new Error(flavour);
  }
}
const FLAVOURS = [
  ["plain", 10],
  ["code", 3],
  ["path", 2],
  ["quotes", 2],
  ["chinese", 3],
  ["japanese", 2],
  ["korean", 1],
  ["cjk-adjacent", 1],
  ["emoji", 2],
  ["emoji-adjacent", 1],
  ["combining", 2],
  ["rtl", 2],
  ["line-separators", 1],
  ["control", 1],
  ["lone-surrogate", 1],
];

/** A new marker of `kind` wrapped in a random (or given) flavour. */
export function say(ctx, kind, extra = {}, flavour) {
  const marker = ctx.markers.next(kind, extra);
  return flavoured(ctx.rng, ctx.markers, marker, flavour ?? ctx.rng.weighted(FLAVOURS));
}

/** About `chars` characters with markers at the head, in the middle and at the tail. */
export function longText(ctx, kind, chars, extra = {}) {
  const mk = (position) => ctx.markers.next(kind, { ...extra, position, chars });
  const [h, m, t] = [mk("head"), mk("middle"), mk("tail")];
  const { rng } = ctx;
  const words = () => `${rng.pick(WORDS)} ${rng.pick(WORDS)} 資料`;
  const line = () => `${rng.int(1000, 9999)} ${words()} took ${rng.int(1, 900)}ms\n`;
  const fill = (n) => {
    let s = "";
    while (s.length < n) s += line();
    return s;
  };
  const half = () => fill(chars / 2);
  return `start ${h} of the log\n${half()}middle ${m}\n${half()}final status ${t} exit\n`;
}

/** Looks like base64 and holds the marker literally: found only where image bytes are indexed. */
export function image(ctx) {
  const marker = ctx.markers.next("image");
  const junk = (n) =>
    Array.from(
      { length: n },
      () => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[ctx.rng.int(0, 63)],
    ).join("");
  return {
    type: "image",
    data: `iVBORw0KGgo+${junk(ctx.rng.int(40, 400))}+${marker}+${junk(20)}==`,
    mimeType: ctx.rng.pick(["image/png", "image/jpeg"]),
  };
}

/** What a search for a marker has to give, by what it was written as. */
export function expectation(record) {
  if (ABSENT.has(record.kind)) return "absent";
  if (SUPPRESSED_TOOLS.has(record.toolName)) return "suppressed";
  return record.position === "middle" ? "maybe-omitted" : "found";
}
