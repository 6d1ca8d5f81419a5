// Words and letters.
import type { Kind } from "./kind.ts";

const r = String.raw;

export const words: Readonly<Record<string, Kind>> = {
  choices: {
    equal: [
      ["(D)", r`\text{(D)}`],
      ["D", r`\text{(D)}`],
      [r`\mathbf{(D)}`, "D"],
      ["D. 17", "D"],
      ["(D) 17", r`\text{D}`],
      ["d", r`\text{(D)}`],
      [r`\text{(B)}, \text{(D)}`, r`D, B`],
    ],
    different: [
      ["B", "D"],
      ["(B)", r`\text{(D)}`],
      ["D_2 = 17", "D"],
      ["B. 17", "D"],
      [r`\text{(B)}`, r`B, D`],
    ],
  },
  text: {
    equal: [
      ["Marcus", r`\text{Marcus}`],
      [r`\textbf{Marcus}.`, r`\text{Marcus}`],
      ["thursday", r`\text{Thursday}`],
      [r`\text{a parabola}`, r`\text{parabola}`],
      [r`\text{no solutions}`, r`\emptyset`],
      [r`\text{seven}`, "7"],
      [r`\text{42}`, "42"],
    ],
    different: [
      [r`\text{north}`, r`\text{south}`],
      ["Marc", r`\text{Marcus}`],
      [r`\text{Marcus and Ada}`, r`\text{Marcus}`],
      ["0", r`\text{no solution}`],
      ["even", "odd"],
      [r`\text{Marcus`, r`\text{Marcus}`],
      [r`three of 14`, r`14`],
      [r`twice 14`, r`14`],
      [r`half of 14`, r`14`],
    ],
  },
};
