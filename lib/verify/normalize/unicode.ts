const LATEX: Readonly<Record<string, string>> = {
  "−": "-",
  "–": "-",
  "—": "-",
  "‐": "-",
  "‑": "-",
  "﹣": "-",
  "×": "\\times ",
  "⋅": "\\cdot ",
  "·": "\\cdot ",
  "∙": "\\cdot ",
  "∗": "*",
  "÷": "\\div ",
  "⁄": "/",
  "∕": "/",
  "±": "\\pm ",
  "∓": "\\mp ",
  "√": "\\sqrt ",
  "∛": "\\sqrt[3]",
  "∞": "\\infty ",
  "≤": "\\le ",
  "⩽": "\\le ",
  "≦": "\\le ",
  "≥": "\\ge ",
  "⩾": "\\ge ",
  "≧": "\\ge ",
  "≠": "\\ne ",
  "≈": "\\approx ",
  "≡": "\\equiv ",
  "∪": "\\cup ",
  "∩": "\\cap ",
  "∈": "\\in ",
  "∉": "\\notin ",
  "∅": "\\emptyset ",
  "∖": "\\setminus ",
  "∠": "\\angle ",
  "∀": "\\forall ",
  "∃": "\\exists ",
  "→": "\\to ",
  "⇒": "\\Rightarrow ",
  "∑": "\\sum ",
  "∏": "\\prod ",
  "∫": "\\int ",
  "∂": "\\partial ",
  "°": "\\degree ",
  º: "\\degree ",
  "′": "'",
  "’": "'",
  "‘": "'",
  "“": '"',
  "”": '"',
  "…": "\\ldots ",
  "⋯": "\\ldots ",
  "⌊": "\\lfloor ",
  "⌋": "\\rfloor ",
  "⌈": "\\lceil ",
  "⌉": "\\rceil ",
  "⟨": "\\langle ",
  "⟩": "\\rangle ",
  ℝ: "\\mathbb{R}",
  ℤ: "\\mathbb{Z}",
  ℕ: "\\mathbb{N}",
  ℚ: "\\mathbb{Q}",
  ℂ: "\\mathbb{C}",
  "€": "\\$",
  "£": "\\$",
  "，": ",",
  "、": ",",
  "；": ";",
  "。": ".",
  "：": ":",
  "（": "(",
  "）": ")",
  "½": "\\frac12",
  "⅓": "\\frac13",
  "⅔": "\\frac23",
  "¼": "\\frac14",
  "¾": "\\frac34",
};

const GREEK: readonly (readonly [string, string])[] = [
  ["αβγδεζηθικλμνξ", "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi"],
  ["πρστυφχψωϕϵ", "pi rho sigma tau upsilon phi chi psi omega phi epsilon"],
  ["ΓΔΘΛΞΠΣΦΨΩ", "Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"],
];

const MAP = new Map(Object.entries(LATEX));
for (const [letters, names] of GREEK)
  for (const [i, name] of names.split(" ").entries()) MAP.set(letters[i]!, `\\${name} `);

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉";

/** @internal Mathematical characters as LaTeX, wide forms as ASCII, other blanks as blanks; all else as it is. */
export function toLatex(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what is not plain ASCII needs a look
  if (/^[\x00-\x7f]*$/.test(text)) return text;
  let out = "";
  let raised = "";
  const flush = (): void => {
    if (raised !== "") out += `${raised}}`;
    raised = "";
  };
  for (const c of text) {
    const up = c === "⁻" ? "-" : digit(SUPERSCRIPTS, c);
    const down = up === undefined ? digit(SUBSCRIPTS, c) : undefined;
    const start = up !== undefined ? "^{" : down !== undefined ? "_{" : "";
    if (start === "" || (raised !== "" && !raised.startsWith(start))) flush();
    if (start !== "") raised += (raised === "" ? start : "") + (up ?? down);
    else out += MAP.get(c) ?? plain(c);
  }
  flush();
  return out;
}

function digit(row: string, c: string): string | undefined {
  const at = row.indexOf(c);
  return at < 0 ? undefined : String(at);
}

function plain(c: string): string {
  const code = c.codePointAt(0)!;
  if (code >= 0xff01 && code <= 0xff5e) return String.fromCharCode(code - 0xfee0);
  if (code === 0xa0 || code === 0x3000 || (code >= 0x2000 && code <= 0x200a) || code === 0x202f) return " ";
  return code >= 0x200b && code <= 0x200f ? "" : c;
}
