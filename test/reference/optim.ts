// AdamW and gradient norms in plain float64, one element at a time.

/** What one AdamW step needs besides the arrays. */
export interface ReferenceAdamWOptions {
  step: number;
  learningRate: number;
  beta1: number;
  beta2: number;
  epsilon: number;
  weightDecay: number;
  gradScale: number;
}

/** The new [parameter, first moment, second moment] of one element. */
export function adamWElement(
  [param, grad, first, second]: readonly [number, number, number, number],
  o: ReferenceAdamWOptions,
): [number, number, number] {
  const g = grad * o.gradScale;
  const m = o.beta1 * first + (1 - o.beta1) * g;
  const v = o.beta2 * second + (1 - o.beta2) * g * g;
  const corrected = m / (1 - o.beta1 ** o.step);
  const root = Math.sqrt(v / (1 - o.beta2 ** o.step));
  const p =
    param - o.learningRate * o.weightDecay * param - (o.learningRate * corrected) / (root + o.epsilon);
  return [p, m, v];
}

/** Root of the sum of squares, scaled by the largest element and summed with compensation. */
export function norm(tensors: readonly ArrayLike<number>[]): number {
  const values = tensors.flatMap((tensor) => Array.from(tensor, Math.abs));
  const largest = values.reduce((a, b) => Math.max(a, b), 0);
  if (largest === 0) return 0;
  let [sum, lost] = [0, 0];
  for (const value of values) {
    const square = (value / largest) ** 2 - lost;
    const next = sum + square;
    lost = next - sum - square;
    sum = next;
  }
  return largest * Math.sqrt(sum);
}
