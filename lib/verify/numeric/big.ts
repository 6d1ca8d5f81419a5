// Real numbers m * 2^e with integers m of bounded length. Functions are correct to a few units of the last place.

/** @internal A binary floating-point number. */
export interface Big {
  readonly m: bigint;
  readonly e: number;
}

/** @internal */
export const NIL: Big = { m: 0n, e: 0 };

/** @internal Bits of an integer. */
export function bitLength(m: bigint): number {
  const hex = (m < 0n ? -m : m).toString(16);
  return hex === "0" ? 0 : 4 * (hex.length - 1) + (32 - Math.clz32(Number.parseInt(hex[0]!, 16)));
}

/** @internal The binary order of magnitude: |x| < 2^magnitude; -Infinity for zero. */
export function magnitude({ m, e }: Big): number {
  return m === 0n ? Number.NEGATIVE_INFINITY : bitLength(m) + e;
}

/** @internal Shifts towards minus infinity. */
export function shift(m: bigint, by: number): bigint {
  return by >= 0 ? m << BigInt(by) : m >> BigInt(-by);
}

/** @internal Arithmetic with a fixed number of bits. */
export class Bigs {
  readonly bits: number;
  #pi: bigint | undefined;
  #ln2: bigint | undefined;

  constructor(bits: number) {
    this.bits = bits;
  }

  round(m: bigint, e: number): Big {
    const excess = bitLength(m) - this.bits;
    return excess > 0 ? { m: shift(m, -excess), e: e + excess } : m === 0n ? NIL : { m, e };
  }

  add(a: Big, b: Big): Big {
    if (a.m === 0n) return b;
    if (b.m === 0n) return a;
    const [high, low] = a.e >= b.e ? [a, b] : [b, a];
    if (high.e - low.e > 2 * this.bits && magnitude(high) - magnitude(low) > this.bits + 2) return high;
    return this.round(shift(high.m, high.e - low.e) + low.m, low.e);
  }

  negate({ m, e }: Big): Big {
    return { m: -m, e };
  }

  multiply(a: Big, b: Big): Big {
    return this.round(a.m * b.m, a.e + b.e);
  }

  divide(a: Big, b: Big): Big {
    const lift = Math.max(0, this.bits + 2 + bitLength(b.m) - bitLength(a.m));
    return this.round((a.m << BigInt(lift)) / b.m, a.e - b.e - lift);
  }

  /** Of a number >= 0. */
  sqrt({ m, e }: Big): Big {
    if (m === 0n) return NIL;
    let lift = Math.max(0, 2 * this.bits - bitLength(m));
    if ((e - lift) % 2 !== 0) lift++;
    return this.round(integerSqrt(m << BigInt(lift)), (e - lift) / 2);
  }

  /** As an integer over 2^places. */
  fixed({ m, e }: Big, places: number): bigint {
    return shift(m, e + places);
  }

  get pi(): Big {
    return { m: this.piFixed(this.bits + 64), e: -this.bits - 64 };
  }

  /** pi times 2^places. */
  piFixed(places: number): bigint {
    const held = this.bits + 128;
    if (places > held) return machin(places);
    this.#pi ??= machin(held);
    return shift(this.#pi, places - held);
  }

  get ln2Fixed(): bigint {
    const one = 1n << BigInt(this.bits + 64);
    this.#ln2 ??=
      18n * inverseHyperbolic(26n, one) -
      2n * inverseHyperbolic(4801n, one) +
      8n * inverseHyperbolic(8749n, one);
    return this.#ln2;
  }

  /** Of a number below 2^40 in size; the caller checks. */
  exp(a: Big): Big {
    const places = this.bits + 64;
    const ln2 = this.ln2Fixed;
    const x = this.fixed(a, places);
    const k = x / ln2;
    const halvings = 8;
    const r = (x - k * ln2) >> BigInt(halvings);
    const one = 1n << BigInt(places);
    let sum = one;
    let term = one;
    for (let n = 1n; term !== 0n; n++) {
      term = shift(term * r, -places) / n;
      if (term === -1n) break;
      sum += term;
    }
    for (let i = 0; i < halvings; i++) sum = shift(sum * sum, -places);
    return this.round(sum, Number(k) - places);
  }

  /** Of a number > 0: a double's logarithm, corrected twice. */
  ln(a: Big): Big {
    const places = this.bits + 64;
    const length = bitLength(a.m);
    const exponent = a.e + length;
    const f: Big = { m: a.m, e: -length };
    let y = fromDouble(Math.log(Number(shift(a.m, 53 - length)) / 2 ** 53));
    for (let bits = 50; bits < this.bits + 32; bits *= 3) {
      const e = this.exp(y);
      const step = this.divide(this.add(f, this.negate(e)), this.add(f, e));
      y = this.add(y, { m: step.m, e: step.e + 1 });
    }
    return this.add(y, this.round(this.ln2Fixed * BigInt(exponent), -places));
  }

  /** Of a number below 2^64 in size; the caller checks. */
  sinCos(a: Big): { sin: Big; cos: Big } {
    const places = this.bits + 64;
    const half = this.piFixed(places + 64) >> 1n;
    const x = this.fixed(a, places + 64);
    const quarter = half >> 1n;
    const k = (x + quarter) / half - (x + quarter < 0n ? 1n : 0n);
    const r = (x - k * half) >> 64n;
    const one = 1n << BigInt(places);
    const square = shift(r * r, -places);
    const sum = (start: bigint, from: bigint): bigint => {
      let term = start;
      let total = start;
      for (let n = from; term !== 0n && term !== -1n; n += 2n) {
        term = -shift(term * square, -places) / (n * (n + 1n));
        total += term;
      }
      return total;
    };
    const [s, c] = [sum(r, 2n), sum(one, 1n)];
    const [sin, cos] = [
      [s, c],
      [c, -s],
      [-s, -c],
      [-c, s],
    ][Number(((k % 4n) + 4n) % 4n)]!;
    return { sin: this.round(sin!, -places), cos: this.round(cos!, -places) };
  }

  /** The angle of a point that is not the origin: a double's angle and what is left to it. */
  angle(y: Big, x: Big): Big {
    const scale = Math.max(magnitude(y), magnitude(x));
    const start = fromDouble(Math.atan2(toDouble(y, scale), toDouble(x, scale)));
    const { sin, cos } = this.sinCos(start);
    const across = this.add(this.multiply(y, cos), this.negate(this.multiply(x, sin)));
    const along = this.add(this.multiply(x, cos), this.multiply(y, sin));
    const t = this.divide(across, along);
    const square = this.negate(this.multiply(t, t));
    let angle = start;
    let term = t;
    for (let n = 1; magnitude(term) > -this.bits - 32; n += 2) {
      angle = this.add(angle, this.divide(term, { m: BigInt(n), e: 0 }));
      term = this.multiply(term, square);
    }
    return angle;
  }
}

/** @internal The exact value of a double. */
export function fromDouble(value: number): Big {
  if (value === 0) return NIL;
  const e = Math.floor(Math.log2(Math.abs(value))) - 60;
  const scaled = e < -1000 ? value * 2 ** 1000 * 2 ** (-e - 1000) : value * 2 ** -e;
  return { m: BigInt(scaled), e };
}

/** @internal The double nearest to x / 2^scale. */
export function toDouble(x: Big, scale = 0): number {
  const excess = Math.max(0, bitLength(x.m) - 60);
  return Number(shift(x.m, -excess)) * 2 ** Math.max(-1074, Math.min(1023, x.e + excess - scale));
}

function integerSqrt(value: bigint): bigint {
  let guess = 1n << BigInt((bitLength(value) + 1) >> 1);
  for (;;) {
    const next = (guess + value / guess) >> 1n;
    if (next >= guess) return guess;
    guess = next;
  }
}

function inverseTangent(k: bigint, one: bigint): bigint {
  return inverseSeries(k, one, -1n);
}

function inverseHyperbolic(k: bigint, one: bigint): bigint {
  return inverseSeries(k, one, 1n);
}

// atan(1/k) or artanh(1/k).
function inverseSeries(k: bigint, one: bigint, sign: bigint): bigint {
  const square = k * k;
  let power = one / k;
  let total = 0n;
  for (let n = 1n, s = 1n; power !== 0n; n += 2n, s *= sign) {
    total += (s * power) / n;
    power /= square;
  }
  return total;
}

function machin(places: number): bigint {
  const one = 1n << BigInt(places + 16);
  return (16n * inverseTangent(5n, one) - 4n * inverseTangent(239n, one)) >> 16n;
}
