import { expect } from "vitest";

type Numbers = ArrayLike<number>;

/** Every value within `relative` of the expected one, relative to max(1, |expected|). */
export function expectClose(actual: Numbers, expected: Numbers, relative = 1e-12): void {
  expect(actual.length).toBe(expected.length);
  for (let i = 0; i < expected.length; i++) {
    const [a, e] = [actual[i]!, expected[i]!];
    if (Object.is(a, e) || (Number.isNaN(a) && Number.isNaN(e))) continue;
    const error = Math.abs(a - e) / Math.max(1, Math.abs(e));
    if (!(error <= relative))
      expect.fail(`value ${i}: got ${a}, expected ${e} (error ${error} > ${relative})`);
  }
}

/** The same bits. */
export function expectSameBits(actual: Numbers, expected: Numbers): void {
  expect(actual.length).toBe(expected.length);
  for (let i = 0; i < expected.length; i++) {
    if (!Object.is(actual[i], expected[i]))
      expect.fail(`value ${i}: got ${actual[i]}, expected exactly ${expected[i]}`);
  }
}

/** Masked-out places hold +0: not -0, not NaN. */
export function expectZeroWhereMasked(values: Numbers, mask: Numbers): void {
  for (let i = 0; i < mask.length; i++) {
    if (mask[i] === 0 && !Object.is(values[i], 0))
      expect.fail(`value ${i} is masked out: expected +0, got ${values[i]}`);
  }
}

/** Central differences of f at x, compared with the analytic gradient. */
export function expectGradient(
  f: (x: Float64Array) => number,
  x: Float64Array,
  gradient: Numbers,
  relative = 1e-6,
  step = 1e-5,
): void {
  expect(gradient.length).toBe(x.length);
  for (let i = 0; i < x.length; i++) {
    const [up, down] = [x.slice(), x.slice()];
    up[i]! += step;
    down[i]! -= step;
    const numeric = (f(up) - f(down)) / (2 * step);
    const error = Math.abs(gradient[i]! - numeric) / Math.max(1, Math.abs(numeric));
    if (!(error <= relative))
      expect.fail(`d/dx[${i}]: analytic ${gradient[i]}, central difference ${numeric}`);
  }
}

/** The error code that the call throws. */
export function errorCode(call: () => unknown): string | undefined {
  try {
    call();
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
  return undefined;
}
