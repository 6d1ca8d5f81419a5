/** @internal Text that cannot steer a terminal, cut to a width. */
export function printable(text: string, width = 400): string {
  const plain = Array.from(text, (character) => (/\p{C}/u.test(character) ? "?" : character));
  return plain.length <= width ? plain.join("") : `${plain.slice(0, width - 3).join("")}...`;
}

/** @internal The same line by line, for messages that list several things. */
export function printableLines(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => printable(line))
    .join("\n");
}
