import { createVerifier, type Verifier, type VerifierOptions } from "../pool/verifier.ts";
import type { EvalDataset } from "./dataset.ts";
import type { EvalGrader } from "./grader.ts";

/** A grader that holds threads; close it when done, or declare it with `await using`. */
export interface VerifierGrader extends EvalGrader, AsyncDisposable {
  /** Ends the threads. */
  close(): Promise<void>;
}

/**
 * {@link createVerifier} as a grader: responses are graded in threads, under a hard time limit. Under the rules of `qwen`
 * datasets that keep units are graded by `qwen-minerva`.
 *
 * @throws {@link index.ArgumentError | ArgumentError} `ERR_ARGUMENT_VALUE` for options out of range
 */
export function verifierGrader(options: VerifierOptions = {}): VerifierGrader {
  const { grader: name = "default" } = options;
  const plain = createVerifier(options);
  const keeping = name === "qwen" ? createVerifier({ ...options, grader: "qwen-minerva" }) : plain;
  const by = (units: EvalDataset["units"]): Verifier => (units === "kept" ? keeping : plain);
  const close = async () => {
    await Promise.all([plain.close(), keeping.close()]);
  };
  return {
    name,
    async grade(items, settings) {
      const kinds = (["kept", "dropped"] as const).map(async (units) => {
        const some = items.filter((item) => item.units === units);
        const pairs = some.map(({ response, reference }) => ({ response, reference }));
        const verdicts = await by(units).verify(pairs, settings);
        return some.map((item, i) => [item, verdicts[i]!] as const);
      });
      const found = new Map((await Promise.all(kinds)).flat());
      return items.map((item) => found.get(item)!);
    },
    async same(a, b, units) {
      const [verdict] = await by(units).verify([{ prediction: a, reference: b }]);
      return verdict!.status === "equal";
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
