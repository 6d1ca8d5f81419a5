import { type Convention, parseConvention } from "../../prm/convention.ts";

/** @internal The convention of a PRM that {@link trainPrm} trains: PURE's, with the separator that it was trained with. */
export function trainedConvention({
  separator,
  separatorId,
  bos,
  head,
}: {
  readonly separator: string;
  readonly separatorId: number;
  readonly bos: boolean;
  readonly head: "token-classification" | "mlp";
}): Convention {
  const piece = { text: separator, ids: [separatorId] };
  return parseConvention({
    name: "trained",
    about: "prompt, then steps closed by a separator token; in RL the policy's own ids, separators replaced",
    head,
    input: { form: "plain", bos, prompt: "{question}", tokenise: "parts", separator: piece },
    read: "at",
    score: { transform: "softmax-difference", good: 1, bad: 0 },
    range: "signed",
    aggregate: "soft-min",
    threshold: 0,
    policy: { separator: "\n\n", replace: piece },
  });
}
