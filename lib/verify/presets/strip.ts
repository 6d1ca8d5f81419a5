// String rules of the MATH graders, as research code uses them. They are copied in effect, mistakes included.

/**
 * @internal The content of the last box: braces matched, `\boxed 5` up to the dollar sign; undefined without one.
 *
 * @param framed - take `\fbox` where there is no `\boxed`
 */
export function lastBoxed(text: string, framed: boolean): string | undefined {
  let start = text.lastIndexOf("\\boxed");
  if (text.includes("\\boxed ")) return text.split("\\boxed ").at(-1)!.split("$")[0]!;
  if (start < 0 && framed) start = text.lastIndexOf("\\fbox");
  if (start < 0) return undefined;
  const open = text.indexOf("{", start);
  if (open < 0) return undefined;
  let depth = 0;
  for (let i = open; i < text.length; i++) {
    if (text[i] === "{") depth++;
    else if (text[i] === "}" && --depth === 0) return text.slice(open + 1, i);
  }
  return undefined;
}

/** `\frac12`, `\frac1{2}` as `\frac{1}{2}`; other text after \frac stays, as does everything from a lone \frac on. */
export function braceFractions(text: string): string {
  const [head, ...rest] = text.split("\\frac");
  let out = head!;
  for (const part of rest) {
    out += "\\frac";
    if (part.startsWith("{")) out += part;
    else if (part.length < 2) return text;
    else {
      const [a, b] = [part[0]!, part[1]!];
      out += b === "{" ? `{${a}}${part.slice(1)}` : `{${a}}{${b}}${part.slice(2)}`;
    }
  }
  return out;
}

/** `\sqrt3` as `\sqrt{3}`: one character. */
export function braceRoots(text: string): string {
  const [head, ...rest] = text.split("\\sqrt");
  return rest.reduce(
    (out, part) =>
      `${out}\\sqrt${part === "" || part.startsWith("{") ? part : `{${part[0]}}${part.slice(1)}`}`,
    head!,
  );
}

const INTEGER = /^-?\d+$/;

/** `3/4` as `\frac{3}{4}`, when it is nothing but two integers. */
export function slashFraction(text: string): string {
  const parts = text.split("/");
  if (parts.length !== 2 || !parts.every((part) => INTEGER.test(part))) return text;
  const [a, b] = parts.map((part) => String(Number(part)));
  return text === `${a}/${b}` ? `\\frac{${a}}{${b}}` : text;
}

/** @internal The normal form of the MATH data set's own grader; throws for two units. */
export function hendrycksForm(text: string): string {
  let s = text.replaceAll("\n", "").replaceAll("\\!", "").replaceAll("\\\\", "\\");
  s = s
    .replaceAll("tfrac", "frac")
    .replaceAll("dfrac", "frac")
    .replaceAll("\\left", "")
    .replaceAll("\\right", "");
  s = s.replaceAll("^{\\circ}", "").replaceAll("^\\circ", "").replaceAll("\\$", "");
  if (s.includes("\\text{ ")) {
    const parts = s.split("\\text{ ");
    if (parts.length !== 2) throw new Error("two units");
    s = parts[0]!;
  }
  s = s.replaceAll("\\%", "").replaceAll(" .", " 0.").replaceAll("{.", "{0.");
  if (s === "") return s;
  if (s.startsWith(".")) s = `0${s}`;
  const sides = s.split("=");
  if (sides.length === 2 && sides[0]!.length <= 2) s = sides[1]!;
  s = braceFractions(braceRoots(s).replaceAll(" ", ""));
  return s === "0.5" ? "\\frac{1}{2}" : slashFraction(s);
}
