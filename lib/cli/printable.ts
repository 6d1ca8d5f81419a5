/** @internal Text that cannot steer a terminal, cut to a width. */
export function printable(text: string, width = 400): string {
  const plain = Array.from(text, (character) => (/\p{C}/u.test(character) ? "?" : character));
  return plain.length <= width ? plain.join("") : `${plain.slice(0, width - 3).join("")}...`;
}
