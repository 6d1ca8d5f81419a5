/** A stream of numbers in [0, 1), the same for the same key on every machine. */
export type Random = () => number;

/**
 * A seeded stream per key: streams of different keys are unrelated, so that item i of a data set does not depend on how
 * many items there are. SFC32 (from PractRand), its state a 32-bit mix of the key.
 */
export function randomStream(...key: readonly number[]): Random {
  let [a, b, c, counter] = [0x9e3779b9, 0x243f6a88, 0xb7e15162, 1];
  const next = () => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  for (const part of key) {
    a ^= part | 0;
    b ^= Math.floor(part / 2 ** 32) | 0;
    for (let i = 0; i < 12; i++) next();
  }
  return () => (next() * 2 ** 21 + (next() >>> 11)) / 2 ** 53;
}

/** One of a list, all alike. */
export function pick<T>(random: Random, choices: readonly T[]): T {
  return choices[Math.floor(random() * choices.length)]!;
}
