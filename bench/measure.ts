// Interleaved rounds: every contender is timed once per round, so that a change in the machine's load hits all alike.

/** Something that can be timed: resolves to milliseconds per call, or undefined when it cannot run. */
export type Contender = () => Promise<number | undefined>;

/** Rounds to run, and how long a contender may take in all before it drops out after a few rounds. */
export interface Effort {
  rounds: number;
  budgetMs: number;
}

const FEWEST_ROUNDS = 3;
const SAMPLE_MS = 5;

/** Times a function in this process; short ones are repeated until a sample is long enough for the clock. */
export function local(run: () => unknown): Contender {
  let calls = 0;
  return async () => {
    if (calls === 0) {
      await run();
      calls = Math.max(1, Math.ceil(SAMPLE_MS / Math.max(await timed(run, 1), 1e-4)));
    }
    return timed(run, calls);
  };
}

async function timed(run: () => unknown, calls: number): Promise<number> {
  const start = performance.now();
  for (let i = 0; i < calls; i++) {
    const result = run();
    if (result instanceof Promise) await result;
  }
  return (performance.now() - start) / calls;
}

/** Milliseconds per call over the rounds. The fastest round is the one that other work disturbed least. */
export interface Summary {
  median: number;
  fastest: number;
}

/** A summary for each contender; undefined for those that cannot run. */
export async function interleaved<K extends string>(
  contenders: Record<K, Contender>,
  { rounds, budgetMs }: Effort,
): Promise<Record<K, Summary | undefined>> {
  const names = Object.keys(contenders) as K[];
  const times = new Map(names.map((name) => [name, [] as number[]]));
  const spent = new Map(names.map((name) => [name, 0]));
  const absent = new Set<K>();
  for (let round = 0; round < rounds; round++) {
    for (const name of names) {
      if (absent.has(name) || (round >= FEWEST_ROUNDS && spent.get(name)! > budgetMs)) continue;
      const start = performance.now();
      const time = await contenders[name]();
      if (time === undefined) absent.add(name);
      else times.get(name)!.push(time);
      spent.set(name, spent.get(name)! + performance.now() - start);
    }
  }
  return Object.fromEntries(names.map((name) => [name, summary(times.get(name)!)])) as Record<
    K,
    Summary | undefined
  >;
}

function summary(times: number[]): Summary | undefined {
  const sorted = times.toSorted((a, b) => a - b);
  const [median, fastest] = [sorted[sorted.length >> 1], sorted[0]];
  return median === undefined || fastest === undefined ? undefined : { median, fastest };
}
