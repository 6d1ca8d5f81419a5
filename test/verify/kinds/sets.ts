// Sets of real numbers.
import type { Kind } from "./kind.ts";

const r = String.raw;

export const sets: Readonly<Record<string, Kind>> = {
  intervals: {
    equal: [
      [r`-4<t\le 6`, "(-4,6]"],
      [r`t\in(-4,6]`, "(-4, 6]"],
      [r`t \geq 5`, r`[5,\infty)`],
      ["t>=5", r`[5,\infty)`],
      [r`5\le t`, r`t\geqslant 5`],
      ["(-inf, 5)", "t<5"],
      [r`(3,8)\cup(8,20)`, r`(8,20) \cup (3,8)`],
      [r`(3,20)\setminus\{8\}`, r`(3,8)\cup(8,20)`],
      [r`|t|<3`, "(-3,3)"],
      [r`[-5,-2]\cup[2,5]`, r`2\le|t|\le5`],
      [r`t<1 \text{ or } t>3`, r`(-\infty,1)\cup(3,\infty)`],
      [r`t\ne2`, r`(-\infty,2)\cup(2,\infty)`],
      [r`\mathbb{R}`, r`(-\infty,\infty)`],
      ["2t<10", "t<5"],
      [r`t < = 4`, r`(-\infty,4]`],
    ],
    different: [
      ["(-4,6)", "(-4,6]"],
      ["[-4,6]", "(-4,6)"],
      ["[-4,6)", "(-4,6]"],
      [r`t<5`, r`t\le5`],
      ["t>5", "5>t"],
      ["5", r`t\ge5`],
      [r`(3,8]\cup[8,20)`, r`(3,8)\cup(8,20)`],
      [r`(3,8)\cap(8,20)`, r`(3,8)\cup(8,20)`],
      [r`\{-4,6\}`, "[-4,6]"],
      ["(6,-4]", "(-4,6]"],
      [r`2<|t|<5`, r`2\le|t|\le5`],
      [r`t < = 4`, r`(-\infty,4)`],
      [r`s\ge5`, r`t\ge5`],
    ],
  },
  "sets by a condition": {
    equal: [
      ["\\{x: x>2\\}", "(2,\\infty)"],
      ["\\{x \\in \\mathbb{R} \\mid -1 \\le x < 3\\}", "[-1,3)"],
      [r`\{m\pi \mid m\in\mathbb{Z}\}`, r`\{m\pi : m\in\mathbb{Z}\}`],
    ],
    different: [
      ["\\{x: x>2\\}", "[2,\\infty)"],
      ["\\{x \\in \\mathbb{Z}: x>2\\}", "(2,\\infty)"],
    ],
  },
};
