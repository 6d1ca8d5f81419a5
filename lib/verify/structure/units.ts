import { literal, multiply, ONE, power, type Rational } from "../exact/rational.ts";
import { closing, is, type Token, token } from "../normalize/token.ts";

/** @internal A unit as a product of dimensions, with the factor to the base units. */
export interface Unit {
  /** Empty for words that only count: million, dozen. */
  readonly dimension: string;
  readonly factor: Rational;
  /** What counting words say, which is part of the number. */
  readonly count: Rational;
}

// name (singular), dimension, factor; several names of one unit on a line. Contradictory words that are no measure are
// a dimension each.
const TABLE = `
length 1 m meter metre; 1e-2 cm centimeter centimetre; 1e-3 mm millimeter millimetre; 1e3 km kilometer kilometre; 0.0254 in inch inche; 0.3048 ft foot feet; 0.9144 yd yard; 1609.344 mi mile; 1e-9 nm nanometer; 1e-6 micrometer micron; 1e-10 angstrom
time 1 s sec second; 60 min minute; 3600 h hr hour; 86400 day; 604800 week; 31557600 yr year; 1e-3 ms millisecond
mass 1 kg kilogram; 1e-3 g gram; 1e-6 mg milligram; 0.45359237 lb pound; 0.028349523125 oz ounce; 1e3 ton tonne
volume 1 L l liter litre; 1e-3 mL ml milliliter millilitre; 3.785411784 gallon gal; 0.946352946 quart; 0.473176473 pint
money 1 dollar USD; 1e-2 cent
energy 1 J joule; 1e3 kJ kilojoule; 1e-7 erg; 1.602176634e-19 eV; 4.184 cal calorie
force 1 N newton; 1e-5 dyne
power 1 W watt; 1e3 kW kilowatt
voltage 1 V volt
current 1 A ampere amp
temperature 1 K kelvin
celsius 1 C Celsius celsius
fahrenheit 1 F Fahrenheit fahrenheit
frequency 1 Hz hertz; 1e3 kHz; 1e6 MHz
pressure 1 Pa pascal; 101325 atm
charge 1 coulomb
amount 1 mol mole
angle 1 rad radian
number 1e2 hundred; 1e3 thousand; 1e6 million; 1e9 billion; 1e12 trillion; 12 dozen
am 1 am AM
pm 1 pm PM
east 1 east
west 1 west
north 1 north
south 1 south
clockwise 1 clockwise
counterclockwise 1 counterclockwise anticlockwise
`;

const UNITS = new Map<string, Unit>();
for (const line of TABLE.trim().split("\n")) {
  const [, dimension, rest] = /^(\S+) (.*)$/.exec(line)!;
  for (const group of rest!.split("; ")) {
    const [factor, ...names] = group.split(" ");
    for (const name of names)
      UNITS.set(name, { dimension: dimension!, factor: literal(factor!)!, count: ONE });
  }
}

function lookup(word: string): Unit | undefined {
  const lower = word.toLowerCase();
  const names = [
    word,
    ...(word.length > 2 ? [lower] : []),
    ...(lower.endsWith("s") && word.length > 3 ? [lower.slice(0, -1)] : []),
  ];
  for (const name of names) if (UNITS.has(name)) return UNITS.get(name);
  return undefined;
}

/** @internal Whether a word is the name of a unit. */
export function isUnit(word: string): boolean {
  return lookup(word) !== undefined || COMPOUND.has(word);
}

/** @internal The unit of an amount of money. */
export const DOLLARS: Unit = { dimension: "money^1", factor: ONE, count: ONE };

const EXPONENTS = new Map([
  ["square", 2n],
  ["sq", 2n],
  ["cubic", 3n],
  ["cu", 3n],
  ["squared", 2n],
  ["cubed", 3n],
]);

// Units that are written as one word.
const COMPOUND = new Map(
  Object.entries({
    mph: ["mile", "per", "hour"],
    kph: ["km", "per", "hour"],
    kmh: ["km", "per", "hour"],
  }).map(([name, words]) => [name, words.map((word) => token("word", word))]),
);

/** @internal Reads `km/h`, `square inches`, `m^2`, `meters per second squared`; undefined when a word is no unit. */
export function readUnit(words: readonly Token[]): Unit | undefined {
  const tokens = words.flatMap((word) => COMPOUND.get(word.text) ?? [word]);
  const dimensions = new Map<string, bigint>();
  let factor: Rational | undefined = ONE;
  let count: Rational | undefined = ONE;
  let direction = 1n;
  let ahead = 1n;
  for (let i = 0; i < tokens.length; i++) {
    const found = tokens[i]!;
    const word = found.text.toLowerCase();
    if (is(found, "/") || word === "per") direction = -1n;
    else if (is(found, ".", "\\cdot", "-", "(", ")") || word === "of") continue;
    else if (word === "square" || word === "sq" || word === "cubic" || word === "cu")
      ahead = EXPONENTS.get(word)!;
    else {
      const unit = found.kind === "word" || found.kind === "letter" ? lookup(found.text) : undefined;
      if (unit === undefined) return undefined;
      if (unit.dimension === "number") {
        count = count && multiply(count, unit.factor);
        continue;
      }
      const { exponent, end } = exponentAfter(tokens, i);
      i = end;
      const total = direction * (ahead === 1n ? exponent : ahead);
      dimensions.set(unit.dimension, (dimensions.get(unit.dimension) ?? 0n) + total);
      const scale = power(unit.factor, total);
      factor = scale && factor && multiply(factor, scale);
      ahead = 1n;
    }
  }
  if (factor === undefined || count === undefined || (dimensions.size === 0 && count === ONE))
    return undefined;
  const names = [...dimensions].map(([name, exponent]) => `${name}^${exponent}`);
  return { dimension: names.sort().join(" "), factor, count };
}

function exponentAfter(tokens: readonly Token[], i: number): { exponent: bigint; end: number } {
  const next = tokens[i + 1];
  const named = next?.kind === "word" ? EXPONENTS.get(next.text.toLowerCase()) : undefined;
  if (named !== undefined && next!.text.endsWith("d")) return { exponent: named, end: i + 1 };
  if (!is(next, "^")) return { exponent: 1n, end: i };
  const end = closing(tokens, i + 2);
  const inside = tokens.slice(i + 3, end);
  const negative = is(inside[0], "-");
  const digits = inside[negative ? 1 : 0]?.text ?? "";
  return /^\d{1,2}$/.test(digits)
    ? { exponent: negative ? -BigInt(digits) : BigInt(digits), end }
    : { exponent: 1n, end };
}
