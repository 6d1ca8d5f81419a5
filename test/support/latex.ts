// LaTeX as models write it, and text that was damaged on the way.
import fc from "fast-check";

const atom = fc.oneof(
  fc.nat({ max: 99 }).map(String),
  fc.constantFrom("x", "y", "n", "\\pi", "e", "i", "0.5", "-3", "10,000", "\\infty", "\\theta"),
);

/** Expressions of a few levels. */
export const expressions: fc.Arbitrary<string> = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { depthSize: "small", maxDepth: 3, withCrossShrink: true },
    atom,
    fc
      .tuple(tie("node"), fc.constantFrom("+", "-", "\\cdot ", "/", "*"), tie("node"))
      .map((parts) => parts.join("")),
    fc.tuple(tie("node"), tie("node")).map(([a, b]) => `\\frac{${a}}{${b}}`),
    fc.tuple(tie("node"), fc.nat({ max: 9 })).map(([a, b]) => `(${a})^{${b}}`),
    tie("node").map((a) => `\\sqrt{${a}}`),
    fc
      .tuple(fc.constantFrom("\\sin", "\\ln", "\\exp", "\\arctan"), tie("node"))
      .map(([f, a]) => `${f}(${a})`),
    tie("node").map((a) => `|${a}|`),
    tie("node").map((a) => `(${a})!`),
    fc.tuple(tie("node"), tie("node")).map(([a, b]) => `\\binom{${a}}{${b}}`),
  ),
})).node;

/** Answers of every form. */
export const answers: fc.Arbitrary<string> = fc.oneof(
  expressions,
  fc
    .tuple(fc.constantFrom("(", "[", "\\{"), expressions, expressions, fc.constantFrom(")", "]", "\\}"))
    .map(([open, a, b, close]) => `${open}${a}, ${b}${close}`),
  fc
    .tuple(expressions, fc.constantFrom("=", "<", "\\le", "\\in", ":", "\\pm ", "\\cup "), expressions)
    .map((parts) => parts.join(" ")),
  fc.array(expressions, { minLength: 2, maxLength: 4 }).map((parts) => parts.join(", ")),
  fc
    .tuple(expressions, fc.constantFrom("\\text{ cm}", "\\%", "^\\circ", " apples", "_7"))
    .map((parts) => parts.join("")),
  fc
    .array(expressions, { minLength: 4, maxLength: 4 })
    .map(([a, b, c, d]) => `\\begin{pmatrix}${a}&${b}\\\\${c}&${d}\\end{pmatrix}`),
  fc.constantFrom("\\text{east}", "C", "(B)", "no solution", "x \\text{ and } y"),
);

const noise = fc.oneof(
  fc.constantFrom(
    "{",
    "}",
    "\\",
    "^",
    "_",
    "(",
    "]",
    "|",
    "&",
    "\\frac",
    "\\sqrt",
    "\\left",
    "$",
    "\0",
    "\ud800",
    ",",
    "!",
  ),
  fc.string({ maxLength: 3 }),
);

/** Answers with a piece cut out, put in or repeated. */
export const damaged: fc.Arbitrary<string> = fc
  .tuple(answers, fc.nat(), fc.nat({ max: 6 }), noise, fc.nat({ max: 3 }))
  .map(([text, at, cut, piece, times]) => {
    const start = at % (text.length + 1);
    return text.slice(0, start) + piece.repeat(times) + text.slice(start + cut);
  });
