// stand-in until extractAnswer is merged
export function lastBoxed(text: string): string | undefined {
  let found: string | undefined;
  for (const match of text.matchAll(/\\f?box(?:ed)?\{/g)) {
    let depth = 1;
    for (let i = match.index + match[0].length; i < text.length; i++) {
      if (text[i] === "{") depth++;
      else if (text[i] === "}" && --depth === 0) {
        found = text.slice(match.index + match[0].length, i);
        break;
      }
    }
  }
  return found;
}
