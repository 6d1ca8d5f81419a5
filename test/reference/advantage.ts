// Plain float64 oracle of the advantage family: loops straight from the formulas, on arrays of arrays.

/** Rows of numbers: tokens or steps of responses. */
export type Rows = number[][];

type Group = number | string;

const total = (values: number[]) => values.reduce((sum, value) => sum + value, 0);
const average = (values: number[]) => total(values) / values.length;

function siblings(groups: Group[], i: number): number[] {
  return groups.flatMap((group, j) => (group === groups[i] && j !== i ? [j] : []));
}

function members(groups: Group[], i: number): number[] {
  return groups.flatMap((group, j) => (group === groups[i] ? [j] : []));
}

/** Standard deviation, by two passes. */
export function deviation(values: number[], ddof = 1): number {
  const mean = average(values);
  return Math.sqrt(total(values.map((value) => (value - mean) ** 2)) / (values.length - ddof));
}

/** r_i minus the mean of the siblings; 0 without any. */
export function rlooOutcomes(rewards: number[], groups: Group[]): number[] {
  return rewards.map((reward, i) => {
    const others = siblings(groups, i);
    return others.length === 0 ? 0 : reward - average(others.map((j) => rewards[j]!));
  });
}

/** (r_i - mean) / (std + epsilon); 0 in groups of one and where all are equal. */
export function grpo(
  rewards: number[],
  groups: Group[],
  { std = "group", epsilon = 1e-6, ddof = 1 }: { std?: string; epsilon?: number; ddof?: number } = {},
): number[] {
  return rewards.map((reward, i) => {
    const own = members(groups, i).map((j) => rewards[j]!);
    if (own.length === 1 || own.every((value) => value === own[0])) return 0;
    const difference = reward - average(own);
    if (std === "none") return difference;
    return difference / (deviation(std === "batch" ? rewards : own, ddof) + epsilon);
  });
}

/** The best of a group gets its lead over the second. */
export function passK(rewards: number[], groups: Group[], std = "group", epsilon = 1e-6): number[] {
  return rewards.map((reward, i) => {
    const own = members(groups, i).map((j) => rewards[j]!);
    if (own.length === 1) return 0;
    const [first, second] = own.toSorted((a, b) => b - a) as [number, number];
    if (reward !== first || first === second) return 0;
    return (first - second) / (std === "none" ? 1 : deviation(own) + epsilon);
  });
}

/** r_i minus the length-weighted mean of the group. */
export function opo(rewards: number[], lengths: number[], groups: Group[]): number[] {
  return rewards.map((reward, i) => {
    const own = members(groups, i);
    const weight = total(own.map((j) => lengths[j]!));
    if (own.length === 1 || weight === 0) return 0;
    return reward - total(own.map((j) => lengths[j]! * rewards[j]!)) / weight;
  });
}

/** Reward-to-go over the tokens whose mask is 1; 0 elsewhere. */
export function toGo(rewards: number[], mask: number[], gamma = 1): number[] {
  return rewards.map((_, t) => {
    if (mask[t] === 0) return 0;
    let [sum, factor] = [0, 1];
    for (let s = t; s < rewards.length; s++) {
      if (mask[s] === 0) continue;
      sum += factor * rewards[s]!;
      factor *= gamma;
    }
    return sum;
  });
}

/** What {@link rlooTokens} is given besides rewards and groups. */
export interface TokenCase {
  baseline: string;
  mask: Rows;
  stepEnds?: Rows;
  countSeparators?: boolean;
  minTokens?: number;
  kl?: { values: Rows; coefficient: number; placement: string };
}

/** Token advantages: the baseline is taken off rewards (step, token) or returns (outcome, return). */
export function rlooTokens(
  rewards: Rows,
  groups: Group[],
  { baseline, mask, stepEnds, countSeparators = true, minTokens = 1, kl }: TokenCase,
): { advantages: Rows; returns: Rows } {
  const penalty = rewards.map((row, i) => row.map((_, t) => (kl ? kl.coefficient * kl.values[i]![t]! : 0)));
  const paid = rewards.map((row, i) => row.map((reward, t) => reward - penalty[i]![t]!));
  const shared = kl?.placement === "after" ? rewards : paid;
  const counted = mask.map((row) => total(row));
  const outcome = shared.map((row, i) => total(row.filter((_, t) => mask[i]![t] === 1)));
  const ends = rewards.map((row, i) =>
    (stepEnds?.[i] ?? row.map((_, t) => t)).filter((end) => mask[i]![end] === 1),
  );
  const takesPart = rewards.map((_, i) => counted[i]! > 0 && (baseline !== "step" || ends[i]!.length > 0));
  const advantages = rewards.map((row, i) => {
    const others = siblings(groups, i).filter((j) => takesPart[j]);
    if (others.length === 0 || !takesPart[i]) return row.map(() => 0);
    const adjusted = [...paid[i]!];
    const perToken = baseline === "token" || baseline === "step";
    const lengths = others.map((j) =>
      baseline === "token" ? Math.max(counted[j]!, minTokens) : counted[j]!,
    );
    const b = {
      outcome: () => average(others.map((j) => outcome[j]!)),
      return: () => total(others.flatMap((j) => toGo(shared[j]!, mask[j]!))) / total(lengths),
      step: () => average(others.map((j) => outcome[j]! / ends[j]!.length)),
      token: () => total(others.map((j) => outcome[j]!)) / total(lengths),
    }[baseline]!();
    if (perToken) {
      ends[i]!.forEach((end, k) => {
        const start = k === 0 ? 0 : ends[i]![k - 1]! + 1;
        const tokens = total(mask[i]!.slice(start, end + 1)) - (countSeparators ? 0 : 1);
        adjusted[end]! -= b * (baseline === "step" ? 1 : tokens);
      });
    }
    return toGo(adjusted, mask[i]!).map((value, t) => (perToken || mask[i]![t] === 0 ? value : value - b));
  });
  return { advantages, returns: paid.map((row, i) => toGo(row, mask[i]!)) };
}

/** GAE of one response, on the counted tokens put side by side. */
export function gaeRow(
  rewards: number[],
  values: number[],
  mask: number[],
  { gamma, lambda, bootstrap = 0 }: { gamma: number; lambda: number; bootstrap?: number },
): number[] {
  const kept = rewards.flatMap((_, t) => (mask[t] === 1 ? [t] : []));
  const deltas = kept.map((t, k) => {
    const next = k + 1 < kept.length ? values[kept[k + 1]!]! : bootstrap;
    return rewards[t]! + gamma * next - values[t]!;
  });
  const out = rewards.map(() => 0);
  kept.forEach((t, k) => {
    for (let l = k; l < kept.length; l++) out[t]! += (gamma * lambda) ** (l - k) * deltas[l]!;
  });
  return out;
}

/** (x - mean) / sqrt(var + epsilon) over the counted elements of the flat batch. */
export function whiten(
  values: number[],
  mask: number[],
  { shiftMean = true, epsilon = 1e-8, ddof = 1 } = {},
): number[] {
  const kept = values.filter((_, i) => mask[i] === 1);
  const mean = average(kept);
  const variance = kept.length > ddof ? deviation(kept, ddof) ** 2 : 0;
  return values.map((value, i) => {
    if (mask[i] === 0) return 0;
    const difference = value - mean;
    return (difference === 0 ? 0 : difference / Math.sqrt(variance + epsilon)) + (shiftMean ? 0 : mean);
  });
}

/** Token advantages over the score-weighted mean return at each position among the counted tokens. */
export function optimalTokenBaseline(
  rewards: Rows,
  logProbs: Rows,
  sumSquared: Rows,
  groups: Group[],
  mask: Rows,
  gamma = 1,
): Rows {
  const kept = <V>(row: V[], i: number) => row.filter((_, t) => mask[i]![t] === 1);
  const returns = rewards.map((row, i) => kept(toGo(row, mask[i]!, gamma), i));
  const weights = logProbs.map((row, i) => {
    let sum = 0;
    return kept(
      row.map((logProb, t) => Math.max(0, 1 - 2 * Math.exp(logProb) + sumSquared[i]![t]!)),
      i,
    ).map((w) => (sum += w));
  });
  return rewards.map((row, i) => {
    const own = members(groups, i).filter((j) => returns[j]!.length > 0);
    if (own.length < 2) return row.map(() => 0);
    let position = 0;
    return row.map((_, t) => {
      if (mask[i]![t] === 0) return 0;
      const k = position++;
      const there = own.filter((j) => returns[j]!.length > k);
      const weight = total(there.map((j) => weights[j]![k]!));
      const baseline =
        weight > 0
          ? total(there.map((j) => weights[j]![k]! * returns[j]![k]!)) / weight
          : average(there.map((j) => returns[j]![k]!));
      return returns[i]![k]! - baseline;
    });
  });
}
