// What the scanner does with a command. Everything that is not here is kept as it is.

const words = (text: string): Set<string> => new Set(text.trim().split(/\s+/));

/** @internal Commands that only change how things look. */
export const IGNORED = words(`
  left right middle big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr bigm
  displaystyle textstyle scriptstyle limits nolimits rm bf it sf tt cal sc normalsize large Large small
  mathstrut strut hline boxed fbox mathbf mathit mathsf mathtt mathcal mathfrak mathscr bold boldsymbol bm pmb
  ensuremath mathord mathop mathrel mathbin ! -
`);

/** @internal Commands whose argument is upright text. */
export const UPRIGHT = words(`
  text textbf textit textrm texttt textsf textnormal textup textsc emph mbox hbox mathrm operatorname operatorname*
`);

/** @internal Commands that are dropped with their argument. */
export const DROPPED = words("hspace hspace* vspace vspace* phantom hphantom vphantom label tag color");

/** @internal Commands that are a blank. */
export const BLANKS = words(", ; : / quad qquad enspace thinspace medspace thickspace space nobreakspace");

/** @internal Other spellings of a command or symbol. */
export const SPELLINGS: Readonly<Record<string, string>> = {
  dfrac: "\\frac",
  tfrac: "\\frac",
  cfrac: "\\frac",
  dbinom: "\\binom",
  tbinom: "\\binom",
  geq: "\\ge",
  geqslant: "\\ge",
  geqq: "\\ge",
  leq: "\\le",
  leqslant: "\\le",
  leqq: "\\le",
  neq: "\\ne",
  not: "\\not",
  lt: "<",
  gt: ">",
  times: "\\cdot",
  ast: "\\cdot",
  cdotp: "\\cdot",
  bigcup: "\\cup",
  bigcap: "\\cap",
  backslash: "\\setminus",
  smallsetminus: "\\setminus",
  varnothing: "\\emptyset",
  O: "\\emptyset",
  varphi: "\\phi",
  varepsilon: "\\epsilon",
  dots: "\\ldots",
  cdots: "\\ldots",
  dotsc: "\\ldots",
  lbrace: "\\{",
  rbrace: "\\}",
  lbrack: "[",
  rbrack: "]",
  lvert: "|",
  rvert: "|",
  vert: "|",
  mid: "|",
  colon: ":",
  infin: "\\infty",
  prime: "'",
  "'": "'",
  "%": "%",
  "&": "&",
  "#": "#",
  _: "_",
  $: "\\$",
  rightarrow: "\\to",
  longrightarrow: "\\to",
  implies: "\\Rightarrow",
  land: "\\wedge",
  lor: "\\vee",
  arcsec: "\\operatorname{arcsec}",
  lg: "\\lg",
};

/** @internal Words that are functions or constants, as people write them without LaTeX. */
export const FUNCTIONS = new Map(
  [
    ..."sqrt exp ln log lg sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan pi infty gcd max min det".split(
      " ",
    ),
    ..."alpha beta gamma delta epsilon theta lambda mu rho sigma tau phi omega binom frac".split(" "),
  ]
    .map((name) => [name, `\\${name}`] as const)
    .concat([
      ["inf", "\\infty"],
      ["infinity", "\\infty"],
      ["Infinity", "\\infty"],
      ["asin", "\\arcsin"],
      ["acos", "\\arccos"],
      ["atan", "\\arctan"],
      ["lcm", "\\operatorname{lcm}"],
    ]),
);

/** @internal Functions that may be followed by their variable without a blank: `sinx`. */
export const GLUED = ["sin", "cos", "tan", "cot", "sec", "csc", "ln", "log"];
