// Phrases are searched in the end of the text only: an answer stands there, and the work stays bounded.
const TAIL = 2000;

const PHRASES = ["final answer is", "the answer is", "answer is", "answer:", "答案是", "####"];

/** @internal What follows the last phrase that announces an answer, or a last line in bold. */
export function answerPhrase(text: string): string | undefined {
  const tail = text.slice(-TAIL);
  const lower = tail.toLowerCase();
  const found = PHRASES.map((phrase) => ({ phrase, at: lower.lastIndexOf(phrase) })).filter(
    ({ at }) => at >= 0,
  );
  const last = found.toSorted((a, b) => b.at + b.phrase.length - (a.at + a.phrase.length))[0];
  if (last !== undefined) return firstSentence(tail.slice(last.at + last.phrase.length));
  const line = tail.trimEnd().split("\n").at(-1)!.trim();
  return line.length > 4 && line.startsWith("**") && line.endsWith("**") ? line.slice(2, -2) : undefined;
}

// Up to the end of the line or sentence; a point inside a number ends nothing.
function firstSentence(text: string): string {
  const line = text.trimStart().split("\n")[0]!.trimStart();
  const stop = line.search(/\.(\s|$)/);
  const sentence = (stop < 0 ? line : line.slice(0, stop)).trim();
  return sentence.replace(/^[:\s]+/, "").trim();
}

const NUMBER = /-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?/g;

/** @internal The last number of a text. */
export function lastNumber(text: string): string | undefined {
  return text.slice(-TAIL).match(NUMBER)?.at(-1);
}
