import { createVerifier, type Verifier, type VerifierOptions } from "../pool/verifier.ts";
import type { EvalDataset } from "./dataset.ts";
import type { EvalGrader } from "./grader.ts";

/** A grader that holds threads; close it when done, or declare it with `await using`. */
export interface VerifierGrader extends EvalGrader, AsyncDisposable {
  /** Ends the threads. */
  close(): Promise<void>;
}

/**
 * {@link createVerifier} as a grader: responses are graded in threads, under a hard time limit. Datasets that keep units
 * hold measured values: under the rules of `default` their decimals are `significant` unless `decimals` says otherwise
 * (votes compare exactly, as that relation has two sides); under those of `qwen` they are graded by `qwen-minerva`.
 *
 * @throws {@link index.ArgumentError | ArgumentError} `ERR_ARGUMENT_VALUE` for options out of range
 */
export function verifierGrader(options: VerifierOptions = {}): VerifierGrader {
  const { grader: name = "default" } = options;
  const all: Verifier[] = [];
  const make = (settings: VerifierOptions): Verifier => {
    const made = createVerifier({ ...options, ...settings });
    all.push(made);
    return made;
  };
  const plain = make({});
  const keeping = keepingOptions(options);
  const measuring = keeping === undefined ? plain : make(keeping);
  const by = (units: EvalDataset["units"]): Verifier => (units === "kept" ? measuring : plain);
  const voting = name === "default" ? make({ decimals: "exact" }) : undefined;
  const close = async () => {
    await Promise.all(all.map((verifier) => verifier.close()));
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
      const [verdict] = await (voting ?? by(units)).verify([{ prediction: a, reference: b }]);
      return verdict!.status === "equal";
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

// What differs for datasets that keep units.
function keepingOptions({ grader = "default", decimals }: VerifierOptions): VerifierOptions | undefined {
  if (grader === "qwen") return { grader: "qwen-minerva" };
  return grader === "default" && decimals === undefined ? { decimals: "significant" } : undefined;
}
