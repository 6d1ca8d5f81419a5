// Slow, plain float64 forms of lib/logprob: the definitions, row by row.

/** Softmax, logsumexp and entropy of one row of logits / temperature. */
export function distribution(row: ArrayLike<number>, temperature = 1) {
  const z = Array.from(row, (x) => x / temperature);
  const highest = Math.max(...z.filter((x) => !Number.isNaN(x)));
  let total = 0;
  for (const x of z) total += Math.exp(x - highest);
  const logSumExp = highest + Math.log(total);
  const logProbs = z.map((x) => x - highest - Math.log(total));
  const probs = logProbs.map(Math.exp);
  let entropy = 0;
  let squares = 0;
  for (let j = 0; j < z.length; j++) {
    if (probs[j]! > 0) entropy -= probs[j]! * logProbs[j]!;
    squares += probs[j]! ** 2;
  }
  return { logSumExp, logProbs, probs, entropy, squares };
}

/** (1 / T) (g_lp (e_y - p) - g_H p (log p + H)). */
export function gradient(
  row: ArrayLike<number>,
  target: number,
  gradLogProb: number,
  gradEntropy: number,
  temperature = 1,
): number[] {
  const { logProbs, probs, entropy } = distribution(row, temperature);
  return probs.map((p, j) => {
    if (row[j] === Number.NEGATIVE_INFINITY) return 0;
    const fromEntropy = p === 0 ? 0 : p * (logProbs[j]! + entropy);
    return (gradLogProb * (Number(j === target) - p) - gradEntropy * fromEntropy) / temperature;
  });
}

/** Row i of a row-major matrix. */
export function rowOf(data: ArrayLike<number>, width: number, i: number): number[] {
  return Array.from({ length: width }, (_, j) => data[i * width + j]!);
}

/** hidden weight^T + bias, row-major. */
export function logitsOf(
  hidden: ArrayLike<number>,
  weight: ArrayLike<number>,
  bias: ArrayLike<number> | undefined,
  [rows, width, vocabulary]: readonly [number, number, number],
): Float64Array<ArrayBuffer> {
  const out = new Float64Array(rows * vocabulary);
  for (let i = 0; i < rows; i++) {
    for (let v = 0; v < vocabulary; v++) {
      let sum = bias === undefined ? 0 : bias[v]!;
      for (let k = 0; k < width; k++) sum += hidden[i * width + k]! * weight[v * width + k]!;
      out[i * vocabulary + v] = sum;
    }
  }
  return out;
}

const word = new Uint32Array(1);
const float = new Float32Array(word.buffer);

/** A bfloat16 or float16 bit pattern as a number. */
export function widen(bits: number, type: "bfloat16" | "float16"): number {
  if (type === "bfloat16") {
    word[0] = bits << 16;
    return float[0]!;
  }
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
}

/** The nearest bfloat16 or float16 bit pattern, ties to even, by search over the neighbours of a truncation. */
export function narrow(value: number, type: "bfloat16" | "float16"): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(value);
  const infinity = type === "bfloat16" ? 0x7f80 : 0x7c00;
  let low = 0;
  let high = infinity;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (widen(middle, type) <= magnitude) low = middle;
    else high = middle;
  }
  if (magnitude === Infinity) return sign | infinity;
  const above = high === infinity ? 2 * widen(low, type) - widen(low - 1, type) : widen(high, type);
  const [down, up] = [magnitude - widen(low, type), above - magnitude];
  return sign | (up < down || (up === down && low % 2 === 1) ? high : low);
}
