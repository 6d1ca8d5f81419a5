// Float64 oracle of the losses, token by token from the formulas of docs/guides/loss.md: slow, without blocks, lanes or
// rearrangements. Inputs are rows of numbers; a mask of 0 leaves the token out.
export interface OracleBatch {
  logProbs: number[][];
  oldLogProbs: number[][];
  advantages: number[][];
  masks?: number[][];
  weights?: number[][];
}

export interface OracleAggregation {
  aggregation: string;
  groups?: (number | string)[];
  denominator?: number;
}

export interface OracleLoss {
  loss: number;
  sum: number;
  count: number;
  gradient: number[];
}

/** Loss of each token, and its derivative with respect to the token's log-prob. */
export interface Terms {
  losses: number[][];
  slopes: number[][];
}

const clamp = (x: number, low: number, high: number) => Math.min(high, Math.max(low, x));
const total = (values: number[]) => values.reduce((a, b) => a + b, 0);
const counted = (masks: number[][] | undefined, row: number, t: number) => masks?.[row]?.[t] !== 0;

/** Sum of w_i loss_it over counted tokens, its count, and the gradient of the quotient. */
export function aggregate(
  { losses, slopes }: Terms,
  masks: number[][] | undefined,
  { aggregation, groups, denominator }: OracleAggregation,
): OracleLoss {
  const lengths = losses.map((row, i) => row.filter((_, t) => counted(masks, i, t)).length);
  const ofPrompt = (row: number) => total(lengths.filter((_, j) => groups?.[j] === groups?.[row]));
  const weight = (row: number) => {
    if (aggregation === "seq-mean-token-mean") return 1 / lengths[row]!;
    return aggregation === "prompt-mean" ? 1 / ofPrompt(row) : 1;
  };
  const counts: Record<string, () => number> = {
    "token-mean": () => total(lengths),
    "seq-mean-token-sum": () => lengths.filter((length) => length > 0).length,
    "seq-mean-token-mean": () => lengths.filter((length) => length > 0).length,
    "prompt-mean": () => new Set(groups?.filter((_, i) => lengths[i]! > 0)).size,
    sum: () => 1,
  };
  const count = counts[aggregation]!();
  const divisor = denominator ?? count;
  let sum = 0;
  const gradient: number[] = [];
  losses.forEach((row, i) => {
    row.forEach((loss, t) => {
      const counts = counted(masks, i, t);
      if (counts) sum += weight(i) * loss;
      gradient.push(counts && divisor !== 0 ? (weight(i) * slopes[i]![t]!) / divisor : 0);
    });
  });
  return { loss: divisor === 0 ? 0 : sum / divisor, sum, count, gradient };
}

/** Everything an objective may look at for one token. */
interface Token {
  d: number; // clamped log-ratio
  clamped: boolean;
  A: number;
  logProb: number;
  w: number;
}

interface Row {
  tokens: Token[];
  meanLogRatio: number;
}

/** [loss, slope] of a token. */
export type Objective = (token: Token, row: Row) => [number, number];

/** max over the plain and the clipped term, as PPO; the plain one's slope on a tie. */
function surrogate(ratio: number, A: number, low: number, high: number): [number, number] {
  const plain = -A * ratio;
  const bounded = -A * clamp(ratio, low, high);
  return bounded > plain ? [bounded, 0] : [plain, plain];
}

export const objectives = {
  ppo:
    (low = 0.2, high = 0.2, dualClip?: number, maxRatio?: number): Objective =>
    ({ d, clamped, A }) => {
      let [loss, slope] = surrogate(Math.exp(d), A, 1 - low, 1 + high);
      if (A < 0 && maxRatio !== undefined && Math.exp(d) > maxRatio) [loss, slope] = [-A * maxRatio, 0];
      if (A < 0 && dualClip !== undefined && loss > -A * dualClip) [loss, slope] = [-A * dualClip, 0];
      return [loss, clamped ? 0 : slope];
    },
  gspo:
    (low = 0.2, high = 0.2): Objective =>
    ({ A, clamped }, { meanLogRatio }) => {
      const [loss, slope] = surrogate(Math.exp(meanLogRatio), A, 1 - low, 1 + high);
      return [loss, clamped ? 0 : slope];
    },
  gmpo:
    (low = 0.2, high = 0.2): Objective =>
    ({ d, A, clamped, w }, { tokens }) => {
      const limited = (token: Token) => {
        if (token.A === 0) return 0;
        return token.A > 0 ? Math.min(token.d, high) : Math.max(token.d, -low);
      };
      const n = tokens.length;
      const ratio = Math.exp(total(tokens.map(limited)) / n);
      const loss = (-total(tokens.map((token) => token.A)) / n) * ratio * (total(tokens.map((t) => t.w)) / n);
      const flows = A > 0 ? d <= high : A < 0 && d >= -low;
      // The caller multiplies by w; here the row's mean weight is already in.
      return [loss / w, (flows && !clamped ? loss : 0) / w];
    },
  cispo:
    (low: number, high: number): Objective =>
    ({ d, A, logProb }) => {
      const weight = clamp(Math.exp(d), low, high);
      return [-weight * A * clamp(logProb, -1e4, 1e4), -weight * A];
    },
  sapo:
    (tauPositive = 1, tauNegative = 1.05): Objective =>
    ({ d, A, clamped }) => {
      const tau = A > 0 ? tauPositive : tauNegative;
      const gate = 1 / (1 + Math.exp(-tau * (Math.exp(d) - 1)));
      return [(-A * 4 * gate) / tau, clamped ? 0 : -A * 4 * gate * (1 - gate) * Math.exp(d)];
    },
  reinforce:
    (): Objective =>
    ({ A, logProb }) => [-A * clamp(logProb, -1e4, 1e4), -A],
};

/** Loss and slope of every token of a batch. */
export function policyTerms(batch: OracleBatch, objective: Objective, limit = 20): Terms {
  const { logProbs, oldLogProbs, advantages, masks, weights } = batch;
  const terms: Terms = { losses: [], slopes: [] };
  logProbs.forEach((values, i) => {
    const tokens = values.map((logProb, t): Token => {
      const raw = logProb - oldLogProbs[i]![t]!;
      const d = clamp(raw, -limit, limit);
      return { d, clamped: d !== raw, A: advantages[i]![t]!, logProb, w: weights?.[i]?.[t] ?? 1 };
    });
    const kept = tokens.filter((_, t) => counted(masks, i, t));
    const row = { tokens: kept, meanLogRatio: total(kept.map(({ d }) => d)) / kept.length };
    const pairs = tokens.map((token) => objective(token, row).map((x) => x * token.w));
    terms.losses.push(pairs.map((pair) => pair[0]!));
    terms.slopes.push(pairs.map((pair) => pair[1]!));
  });
  return terms;
}

/** [value, slope] of a KL estimator at clamped log-ratio d. */
export function klTerm(estimator: string, d: number): [number, number] {
  if (estimator === "k1") return [d, 1];
  if (estimator === "k2") return [(d * d) / 2, d];
  if (estimator === "abs") return [Math.abs(d), Math.sign(d)];
  // The sum of the series where the difference has no digits: exp(-d) - 1 + d = d^2 / 2 - d^3 / 6 + ...
  let value = 0;
  let term = d;
  for (let n = 2; n < 40; n++) {
    term *= -d / n;
    value -= term;
  }
  return [Math.abs(d) < 1 ? value : Math.exp(-d) - 1 + d, -Math.expm1(-d)];
}

/** Values and slopes of the KL penalty. */
export function klTerms(
  logProbs: number[][],
  refLogProbs: number[][],
  oldLogProbs: number[][],
  estimator: string,
  gradient: string,
  limit = 20,
): Terms {
  const pairs = logProbs.map((row, i) =>
    row.map((logProb, t): [number, number] => {
      const d = clamp(logProb - refLogProbs[i]![t]!, -limit, limit);
      const [value, slope] = klTerm(estimator, d);
      if (gradient === "k2") return [value, d];
      if (gradient === "same") return [value, slope];
      const ratio = Math.exp(clamp(logProb - oldLogProbs[i]![t]!, -limit, limit));
      return [ratio * value, ratio * (value + slope)];
    }),
  );
  return {
    losses: pairs.map((row) => row.map(([v]) => v)),
    slopes: pairs.map((row) => row.map(([, s]) => s)),
  };
}

/** Losses and slopes of the value loss. */
export function valueTerms(
  values: number[][],
  oldValues: number[][],
  returns: number[][],
  clipRange: number | undefined,
): Terms {
  const pairs = values.map((row, i) =>
    row.map((v, t): [number, number] => {
      const [old, target] = [oldValues[i]![t]!, returns[i]![t]!];
      const plain = (v - target) ** 2;
      if (clipRange === undefined) return [plain / 2, v - target];
      const bounded = (clamp(v, old - clipRange, old + clipRange) - target) ** 2;
      return bounded > plain ? [bounded / 2, 0] : [plain / 2, v - target];
    }),
  );
  return {
    losses: pairs.map((row) => row.map(([v]) => v)),
    slopes: pairs.map((row) => row.map(([, s]) => s)),
  };
}

/** Importance weights, flat; 0 at masked-out tokens. */
export function weightsOf(
  oldLogProbs: number[][],
  rolloutLogProbs: number[][],
  masks: number[][],
  options: {
    correction: string;
    level: string;
    min: number;
    max: number;
    normalize: boolean;
    limit?: number;
  },
): number[] {
  const { correction, level, min, max, normalize, limit = 20 } = options;
  const correct = (logWeight: number) => {
    const w = Math.exp(clamp(logWeight, -limit, limit));
    if (correction === "mask") return w < min || w > max ? 0 : w;
    return clamp(w, min, max);
  };
  const flat = oldLogProbs.flatMap((row, i) => {
    const d = row.map((x, t) => x - rolloutLogProbs[i]![t]!);
    const sum = total(d.filter((_, t) => masks[i]![t] !== 0));
    const length = masks[i]!.filter((m) => m !== 0).length;
    const ofRow = level === "sequence-sum" ? sum : sum / length;
    return d.map((x, t) => (masks[i]![t] === 0 ? 0 : correct(level === "token" ? x : ofRow)));
  });
  const mean = total(flat) / total(masks.flat());
  return normalize && mean > 0 ? flat.map((w) => w / mean) : flat;
}
