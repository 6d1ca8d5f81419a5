// Keys of a case file: `name[positional, ..., parameter=value, ...]`, or `name(positional)`.

/** A parsed key. Whatever is not asked for by the time `finish` is called is an error: it would go untested. */
export class Key {
  readonly name: string;
  private readonly positional: string[] = [];
  private readonly named = new Map<string, string>();

  constructor(readonly text: string) {
    const match = /^([\w.]+)(?:\[(.*)\]|\((.*)\))?$/.exec(text);
    if (match === null) throw new Error(`cannot read the key ${text}`);
    this.name = match[1]!;
    const inside = match[2] ?? match[3] ?? "";
    for (const part of inside === "" ? [] : inside.split(",")) {
      const equals = part.indexOf("=");
      if (equals < 0) this.positional.push(part.trim());
      else this.named.set(part.slice(0, equals).trim(), part.slice(equals + 1).trim());
    }
  }

  /** The next positional argument. */
  next(): string {
    const value = this.positional.shift();
    if (value === undefined) throw new Error(`${this.text}: an argument is missing`);
    return value;
  }

  /** The next positional argument, which must be one of these. */
  choice<const C extends string>(...choices: C[]): C {
    const value = this.next();
    if (!choices.includes(value as C)) throw new Error(`${this.text}: unknown argument ${value}`);
    return value as C;
  }

  /** A number parameter; undefined when absent or None. */
  number(name: string): number | undefined {
    const text = this.named.get(name);
    this.named.delete(name);
    if (text === undefined || text === "None") return undefined;
    return decodeNumber(text, `${this.text}: ${name}`);
  }

  /** A number parameter that must be there. */
  requiredNumber(name: string): number {
    const value = this.number(name);
    if (value === undefined) throw new Error(`${this.text}: parameter ${name} is missing`);
    return value;
  }

  /** A parameter that is True or False. */
  flag(name: string): boolean {
    const text = this.named.get(name);
    this.named.delete(name);
    if (text !== "True" && text !== "False")
      throw new Error(`${this.text}: ${name} is neither True nor False`);
    return text === "True";
  }

  finish(): void {
    const left = [...this.positional, ...this.named.keys()];
    if (left.length > 0) throw new Error(`${this.text}: unknown arguments ${left.join(", ")}`);
  }
}

/** A number, or one of the strings that stand for what JSON lacks. */
export function decodeNumber(value: unknown, where: string): number {
  if (typeof value === "number") return value;
  const text = String(value).trim();
  if (/^nan$/i.test(text)) return Number.NaN;
  if (/^[+-]?inf(inity)?$/i.test(text)) return text.startsWith("-") ? -Infinity : Infinity;
  const number = Number(text);
  if (text === "" || Number.isNaN(number)) throw new Error(`${where}: expected a number, got ${text}`);
  return number;
}
