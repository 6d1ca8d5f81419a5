import { MAX_DEPTH, Unreadable } from "../limits.ts";
import { BLANKS, DROPPED, FUNCTIONS, GLUED, IGNORED, SPELLINGS, UPRIGHT } from "./commands.ts";
import { type Token, token } from "./token.ts";

const isDigit = (c: string | undefined): boolean => c !== undefined && c >= "0" && c <= "9";
const isLetter = (c: string | undefined): boolean =>
  c !== undefined && ((c >= "a" && c <= "z") || (c >= "A" && c <= "Z"));

/** What begins the argument of functions whose names are also units. */
const ARGUMENTS = new Map([
  ["min", /[({_\\]/],
  ["sec", /[({^\\a-zA-Z\d]/],
]);

/** @internal Splits LaTeX or plain text into tokens, in one pass without looking back. */
export class Scanner {
  readonly #text: string;
  readonly #tokens: Token[] = [];
  /** Per open brace: whether it holds upright text, and whether it is a token. */
  readonly #braces: { upright: boolean; shown: boolean }[] = [];
  #at = 0;
  #space = false;

  constructor(text: string) {
    this.#text = text;
  }

  /** @throws {@link Unreadable} for too much nesting */
  tokens(): Token[] {
    while (this.#at < this.#text.length) this.#next();
    return this.#tokens;
  }

  get #upright(): boolean {
    return this.#braces.at(-1)?.upright ?? false;
  }

  #next(): void {
    const c = this.#text[this.#at]!;
    if (c === "\\") this.#command();
    else if (isDigit(c) || (c === "." && isDigit(this.#text[this.#at + 1]))) this.#number();
    else if (isLetter(c)) this.#letters();
    else if (c === "{") this.#open(this.#upright, !this.#upright);
    else if (c === "}") this.#close();
    else this.#other(c);
  }

  #other(c: string): void {
    const two = this.#text.slice(this.#at, this.#at + 2);
    if (this.#text.startsWith("...", this.#at)) {
      this.#push("command", "\\ldots");
      this.#at += 3;
      return;
    }
    const double = { "<=": "\\le", ">=": "\\ge", "==": "=", "**": "^", "!=": undefined }[two];
    if (double !== undefined) {
      this.#push(double.length > 1 ? "command" : "symbol", double);
      this.#at += 2;
      return;
    }
    this.#at++;
    if (c === " " || c === "\n" || c === "\t" || c === "\r") this.#space = true;
    else if (c === "~" && this.#tokens.length > 0) this.#space = true;
    else if (c === "*") this.#push("command", "\\cdot");
    else if (c === "$") this.#dollar();
    else if (c === '"' || c === "`") return;
    else this.#push("symbol", c);
  }

  // A dollar sign before a number that no other one closes is money.
  #dollar(): void {
    const alone = this.#text.indexOf("$") === this.#at - 1 && this.#text.indexOf("$", this.#at) < 0;
    if (alone && isDigit(this.#text[this.#at])) this.#push("command", "\\$");
    else this.#space = true;
  }

  #number(): void {
    const start = this.#at;
    while (isDigit(this.#text[this.#at])) this.#at++;
    if (this.#text[this.#at] === "." && isDigit(this.#text[this.#at + 1])) {
      this.#at++;
      while (isDigit(this.#text[this.#at])) this.#at++;
    }
    this.#exponent();
    this.#push("number", this.#text.slice(start, this.#at));
  }

  // 4.5e33; 2e^x and 2exp are something else.
  #exponent(): void {
    const c = this.#text[this.#at];
    if (c !== "e" && c !== "E") return;
    let end = this.#at + 1;
    if (this.#text[end] === "-" || this.#text[end] === "+") end++;
    const digits = end;
    while (isDigit(this.#text[end])) end++;
    if (end > digits && !isLetter(this.#text[end]) && this.#text[end] !== "^") this.#at = end;
  }

  #letters(): void {
    const start = this.#at;
    while (isLetter(this.#text[this.#at])) this.#at++;
    const run = this.#text.slice(start, this.#at);
    const known = FUNCTIONS.get(run);
    if (known !== undefined && !this.#isUnit(run)) this.#push("command", known);
    else if (run.length === 1) this.#push(this.#upright ? "word" : "letter", run);
    else {
      const glued = this.#upright
        ? undefined
        : GLUED.find((name) => run.length === name.length + 1 && run.startsWith(name));
      if (glued === undefined) this.#push("word", run);
      else {
        this.#push("command", `\\${glued}`);
        this.#push("letter", run.slice(-1));
      }
    }
  }

  // Minutes and seconds are no function: nothing follows that one could take.
  #isUnit(run: string): boolean {
    const argument = ARGUMENTS.get(run);
    if (argument === undefined) return false;
    let at = this.#at;
    while (this.#text[at] === " " || this.#text[at] === "}") at++;
    return !argument.test(this.#text[at] ?? "");
  }

  #command(): void {
    const start = ++this.#at;
    while (isLetter(this.#text[this.#at])) this.#at++;
    if (this.#at === start) this.#at++;
    else if (this.#text[this.#at] === "*" && DROPPED.has(`${this.#text.slice(start, this.#at)}*`)) this.#at++;
    const name = this.#text.slice(start, this.#at);
    if (name === "\\") this.#push("command", "\\\\");
    else if (name === "{" || name === "}") this.#push("symbol", `\\${name}`);
    else if (name === "(" || name === ")" || name === "[" || name === "]") this.#space = true;
    else if (isDigit(name)) this.#at = start;
    else if (name === "" || name === " " || name === "\n" || BLANKS.has(name)) this.#space = true;
    else if (IGNORED.has(name)) this.#skipNullDelimiter(name);
    else if (DROPPED.has(name)) this.#group();
    else if (name === "textcolor") this.#group();
    else if (name === "begin" || name === "end") this.#environment(name);
    else if (name === "mathbb") this.#push("command", `\\${this.#group().trim()}`);
    else if (UPRIGHT.has(name)) this.#uprightGroup(name);
    else this.#plainCommand(name);
  }

  #plainCommand(name: string): void {
    const spelled = Object.hasOwn(SPELLINGS, name) ? SPELLINGS[name]! : `\\${name}`;
    this.#push(
      spelled.startsWith("\\") && spelled !== "\\{" && spelled !== "\\}" ? "command" : "symbol",
      spelled,
    );
    this.#space = false;
    if (/[a-zA-Z]$/.test(name)) while (this.#text[this.#at] === " ") this.#at++;
  }

  #skipNullDelimiter(name: string): void {
    if ((name === "left" || name === "right") && this.#text[this.#at] === ".") this.#at++;
  }

  #environment(name: string): void {
    const kind = this.#group().trim();
    this.#push("command", `\\${name}{${kind}}`);
    if (name === "begin" && kind.startsWith("array") && this.#text[this.#at] === "{") this.#group();
  }

  /** The raw text of the brace group that follows, which is passed over. */
  #group(): string {
    while (this.#text[this.#at] === " ") this.#at++;
    if (this.#text[this.#at] !== "{") return this.#text[this.#at++] ?? "";
    const end = this.#text.indexOf("}", this.#at);
    const stop = end < 0 ? this.#text.length : end;
    const inside = this.#text.slice(this.#at + 1, stop);
    this.#at = stop + 1;
    return inside;
  }

  #uprightGroup(name: string): void {
    if (this.#text[this.#at] === "*") this.#at++;
    let at = this.#at;
    while (this.#text[at] === " ") at++;
    if (this.#text[at] !== "{") return;
    this.#at = at;
    if (name === "operatorname" || name === "operatorname*") {
      const known = FUNCTIONS.get(this.#text.slice(at + 1, this.#text.indexOf("}", at)));
      if (known !== undefined) {
        this.#group();
        this.#push("command", known);
        return;
      }
    }
    this.#space = true;
    this.#open(true, false);
  }

  #open(upright: boolean, shown: boolean): void {
    if (this.#braces.length >= MAX_DEPTH) throw new Unreadable("braces within braces");
    this.#at++;
    this.#braces.push({ upright, shown });
    if (shown) this.#push("symbol", "{");
  }

  #close(): void {
    this.#at++;
    const brace = this.#braces.pop();
    if (brace === undefined || brace.shown) this.#push("symbol", "}");
    else if (!this.#upright) this.#space = true;
  }

  #push(kind: Token["kind"], text: string): void {
    const before = this.#tokens.at(-1)?.kind;
    const apart = before === "number" || before === "letter" || before === "word";
    const space = this.#space && apart && kind !== "symbol";
    const roman = this.#upright && (kind === "word" || kind === "letter");
    this.#tokens.push(token(kind, text, space, roman));
    this.#space = false;
  }

  /** Whether every brace was closed; known once the tokens are. */
  get balanced(): boolean {
    return this.#braces.length === 0;
  }
}
