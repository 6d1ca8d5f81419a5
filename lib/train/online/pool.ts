import { InputError } from "../../errors.ts";
import { shuffled } from "../batches.ts";
import type { EncodedSolution } from "../prm/solutions.ts";
import type { Json } from "../run/folder.ts";

/** @internal Solutions that wait for a refresh, right and wrong ones apart; the newest are kept. */
export class SolutionPool {
  private right: EncodedSolution[] = [];
  private wrong: EncodedSolution[] = [];

  constructor(private readonly capacity: number) {}

  add(solution: EncodedSolution, isRight: boolean): void {
    const side = isRight ? this.right : this.wrong;
    side.push(solution);
    if (side.length > this.capacity) side.shift();
  }

  /**
   * At most so many right ones and so many wrong ones, taken in turns, in an order that the key decides; then the pool is
   * empty.
   *
   * @param isEven - as many of one kind as of the other
   */
  take(count: number, isEven: boolean, seed: number, key: number): EncodedSolution[] {
    const { right, wrong } = this;
    const most = isEven ? Math.min(count, right.length, wrong.length) : count;
    const some = (side: readonly EncodedSolution[], stream: number) =>
      Array.from(shuffled(side.length, seed, stream).subarray(0, most), (i) => side[i]!);
    const [good, bad] = [some(right, 2 * key), some(wrong, 2 * key + 1)];
    this.right = [];
    this.wrong = [];
    return Array.from({ length: Math.max(good.length, bad.length) }, (_, i) => [good[i], bad[i]])
      .flat()
      .filter((solution) => solution !== undefined);
  }

  state(): Json {
    return { right: this.right.map(toJson), wrong: this.wrong.map(toJson) };
  }

  restore(state: Json): void {
    const { right, wrong } = (state ?? {}) as { readonly [key: string]: Json };
    this.right = fromJson(right);
    this.wrong = fromJson(wrong);
  }
}

function toJson({ ids, ends, labels }: EncodedSolution): Json {
  return { ids: Array.from(ids), ends: Array.from(ends), labels: [...labels] };
}

function fromJson(rows: Json | undefined): EncodedSolution[] {
  if (!Array.isArray(rows))
    throw new InputError("ERR_INPUT", "online PRM state: expected lists of solutions");
  return (rows as { ids: number[]; ends: number[]; labels: (boolean | null)[] }[]).map(
    ({ ids, ends, labels }) => ({ ids: Int32Array.from(ids), ends: Int32Array.from(ends), labels }),
  );
}
