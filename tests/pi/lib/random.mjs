/** Seeded randomness, and a process whose clock and ids come from a seed. */
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";

export class Rng {
  constructor(seed) {
    this.s = (Math.imul(seed | 0, 0x9e3779b1) ^ 0x85ebca6b) >>> 0;
    for (let i = 0; i < 8; i++) this.u32();
  }
  u32() {
    // xorshift-multiply counter generator
    this.s = (this.s + 0x6d2b79f5) >>> 0;
    let t = Math.imul(this.s ^ (this.s >>> 15), 1 | this.s);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return (t ^ (t >>> 14)) >>> 0;
  }
  float() {
    return this.u32() / 4294967296;
  }
  int(lo, hi) {
    return lo + Math.floor(this.float() * (hi - lo + 1));
  }
  chance(p) {
    return this.float() < p;
  }
  pick(list) {
    return list[Math.floor(this.float() * list.length)];
  }
  weighted(pairs) {
    let total = 0;
    for (const [, w] of pairs) total += w;
    let at = this.float() * total;
    for (const [v, w] of pairs) {
      if ((at -= w) < 0) return v;
    }
    return pairs[pairs.length - 1][0];
  }
}

/**
 * Makes what Pi writes depend on the seed alone: it takes entry ids from crypto.randomUUID, session
 * ids from Date.now and crypto.getRandomValues, and timestamps from Date. The clock moves only
 * through clock.advance(ms). To be called before Pi is imported.
 */
export function installDeterminism(seed, startMs = Date.UTC(2026, 0, 5, 9, 0, 0)) {
  const ids = new Rng(seed ^ 0x5bd1e995);
  const Real = Date;
  const clock = {
    t: startMs + (seed % 1000) * 86_400_000,
    advance(ms) {
      this.t += ms;
      return this.t;
    },
    now() {
      return this.t;
    },
  };
  class FixedDate extends Real {
    constructor(...a) {
      if (a.length === 0) super(clock.t);
      else super(...a);
    }
    static now() {
      return clock.t;
    }
  }
  globalThis.Date = FixedDate;
  const hex = (n) => {
    let s = "";
    while (s.length < n) s += ids.u32().toString(16).padStart(8, "0");
    return s.slice(0, n);
  };
  crypto.randomUUID = () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`;
  syncBuiltinESMExports();
  Object.defineProperty(globalThis.crypto, "getRandomValues", {
    configurable: true,
    value: (buf) => {
      for (let i = 0; i < buf.length; i++) buf[i] = ids.u32() & 255;
      return buf;
    },
  });
  return clock;
}
