// A slow, plain float64 form of lib/sampling: by sorting, with every border it decides on.

/** Philox4x32-10 as published: four 32-bit counters and two keys to four 32-bit numbers. */
export function philox(counter: readonly bigint[], key: readonly bigint[]): bigint[] {
  const word = (x: bigint) => BigInt.asUintN(32, x);
  let [c0, c1, c2, c3] = counter as [bigint, bigint, bigint, bigint];
  let [k0, k1] = key as [bigint, bigint];
  for (let round = 0; round < 10; round++) {
    const [a, b] = [0xd2511f53n * c0, 0xcd9e8d57n * c2];
    [c0, c1, c2, c3] = [(b >> 32n) ^ c1 ^ k0, word(b), (a >> 32n) ^ c3 ^ k1, word(a)];
    [k0, k1] = [word(k0 + 0x9e3779b9n), word(k1 + 0xbb67ae85n)];
  }
  return [c0, c1, c2, c3];
}

/** The uniform number in [0, 1) of a row: 53 bits of the first two numbers. */
export function uniform(seed: number, step: number, sample: number, prompt: bigint): number {
  const [key, at] = [BigInt(seed), prompt];
  const [first, second] = philox(
    [BigInt(step), BigInt(sample), at & 0xffffffffn, at >> 32n],
    [key & 0xffffffffn, key >> 32n],
  ) as [bigint, bigint];
  return Number((first << 21n) ^ (second >> 11n)) * 2 ** -53;
}

export interface Rule {
  temperature: number;
  topK: number;
  topP: number;
  minP: number;
}

export interface Draw {
  token: number;
  logProb: number;
  truncatedLogProb: number;
  /** How far the closest decision was from going the other way, as a share of the highest probability. */
  margin: number;
}

/** The draw of one row by the definition. */
export function draw(logits: readonly number[], { temperature, topK, topP, minP }: Rule, u: number): Draw {
  const highest = logits.reduce((a, b) => Math.max(a, b));
  const greedy = temperature === 0;
  const weights = logits.map((x) => Math.exp((x - highest) / (greedy ? 1 : temperature)));
  const sumOf = (ids: readonly number[]) => ids.reduce((sum, id) => sum + weights[id]!, 0);
  const all = logits.map((_, id) => id);
  const whole = sumOf(all);
  let margin = Number.POSITIVE_INFINITY;
  const close = (distance: number) => {
    margin = Math.min(margin, Math.abs(distance));
  };
  const ranked = [...all].sort((a, b) => logits[b]! - logits[a]! || a - b);
  if (greedy) {
    const token = ranked[0]!;
    return { token, logProb: -Math.log(whole), truncatedLogProb: 0, margin };
  }
  let ids = topK > 0 || topP < 1 || minP > 0 ? ranked : all;
  ids = ids.filter((id) => logits[id] !== Number.NEGATIVE_INFINITY);
  if (minP > 0) {
    for (const id of ids) close(weights[id]! - minP);
    ids = ids.filter((id) => weights[id]! >= minP);
  }
  if (topK > 0) ids = ids.slice(0, topK);
  if (topP < 1) {
    const wanted = topP * sumOf(ids);
    let [kept, sum] = [0, 0];
    while (kept === 0 || sum < wanted) {
      if (kept > 0) close(sum - wanted);
      sum += weights[ids[kept++]!]!;
    }
    close(sum - wanted);
    ids = ids.slice(0, kept);
  }
  const left = sumOf(ids);
  let [chosen, before] = [0, 0];
  while (chosen < ids.length - 1 && before + weights[ids[chosen]!]! <= u * left) {
    before += weights[ids[chosen++]!]!;
  }
  const token = ids[chosen]!;
  if (chosen > 0) close(before - u * left);
  if (chosen < ids.length - 1) close(before + weights[token]! - u * left);
  const z = (logits[token]! - highest) / temperature;
  return { token, logProb: z - Math.log(whole), truncatedLogProb: z - Math.log(left), margin };
}
