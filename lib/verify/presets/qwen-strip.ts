import { namedNumber } from "../structure/text.ts";
import { braceFractions, slashFraction } from "./strip.ts";

// Words that this grader takes for units wherever they stand as a token of their own.
const UNITS = new Set(
  `east west degree deg mph kmph kmh ft m cm km inch inches sq square mile foot feet yard acre gallon gal l lb pound ounce
  g gm kg gram ton s minute hour hr h day week month year yr percent cent rs coin toy prime monkey tile men women person
  people worker soldier a c d o t per by way ab gain rise excess noon am pm bc th st lt dm cubic unit units number`
    .trim()
    .split(/\s+/)
    .flatMap((word) => [word, `${word}s`]),
);

function withoutUnits(text: string): string {
  return text.replace(/(^|\W)([a-zA-Z/]{1,12})(?=$|\W)/g, (all, before: string, word: string) =>
    UNITS.has(word) ? before : all,
  );
}

const REPEATED: readonly (readonly [string, string])[] = [
  ["\\!", ""],
  ["\\begin{array}", "\\begin{pmatrix}"],
  ["\\end{array}", "\\end{pmatrix}"],
  ["bmatrix", "pmatrix"],
  ["tfrac", "frac"],
  ["dfrac", "frac"],
  ["\\neq", "\\ne"],
  ["\\leq", "\\le"],
  ["\\geq", "\\ge"],
  ["\\left", ""],
  ["\\right", ""],
  ["\\{", "{"],
  ["\\}", "}"],
];

/** @internal The string form of Qwen's evaluation; `keepUnits` as for Minerva. */
export function qwenForm(text: string, keepUnits: boolean): string {
  let s = text.trim().replaceAll("\n", "").replace(/\.+$/, "");
  for (const [from, to] of REPEATED) s = s.replaceAll(from, to);
  const tail = trailingText(s);
  if (tail !== undefined) s = tail;
  if (!keepUnits) s = withoutUnits(withoutUnits(s));
  s = s.replaceAll("^{\\circ}", "").replaceAll("^\\circ", "").replaceAll("\\$", "").replaceAll("$", "");
  s = s.replaceAll("\\(", "").replaceAll("\\)", "");
  const named = namedNumber(s.split(" "));
  if (named !== undefined) s = String(named);
  s = s.replace(/\\text\{([^{}]*)\}/g, "$1");
  for (const key of ["x=", "y=", "z=", "x\\in", "y\\in", "z\\in", "x\\to", "y\\to", "z\\to"])
    s = s.replaceAll(key, "");
  s = s.replaceAll("\\emptyset", "{}").replaceAll("(-\\infty,\\infty)", "\\mathbb{R}");
  s = s.replaceAll("\\%", "").replaceAll("%", "").replaceAll(" .", " 0.").replaceAll("{.", "{0.");
  s = s.replace(/(?<!\\)inf(inity)?/g, "\\infty").replaceAll("\\inftyinity", "\\infty");
  s = s
    .replaceAll("and", "")
    .replaceAll("\\mathbf", "")
    .replace(/\\mbox\{[^{}]*\}/g, "");
  if (s.includes("j") && !s.includes("i")) s = s.replaceAll("j", "i");
  s = s.replace(/(\d+)\.0*([^\d])/g, "$1$2").replace(/(\d+)\.0*$/, "$1");
  if (s === "") return s;
  if (s.startsWith(".")) s = `0${s}`;
  const sides = s.split("=");
  if (sides.length === 2 && sides[0]!.length <= 2) s = sides[1]!;
  s = s.replace(/\\sqrt(\w+)/g, "\\sqrt{$1}");
  s = braceFractions(s.replaceAll(" ", ""));
  return slashFraction(s);
}

// Whatever stands in front of a last \text{...} is all that is kept.
function trailingText(text: string): string | undefined {
  const at = text.search(/\\text\{[^{}]*\}$/);
  const rest = at <= 0 ? "" : text.slice(0, at).trim();
  return rest === "" ? undefined : rest;
}
