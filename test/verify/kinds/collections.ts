// Several values.
import type { Kind } from "./kind.ts";

const r = String.raw;

export const collections: Readonly<Record<string, Kind>> = {
  lists: {
    equal: [
      ["4,-9", "-9,4"],
      [r`4 \text{ and } -9`, "4, -9"],
      [r`\{-9, 4\}`, "4,-9"],
      ["z = 4 or z = -9", "4,-9"],
      ["z=4,-9", "4,-9"],
      ["4, 9, and 25", "25,9,4"],
      ["6", "6,6"],
      [r`5\pm\sqrt2`, r`5+\sqrt2, 5-\sqrt{2}`],
      ["±2, ±6", "2,-2,6,-6"],
      [r`1, \frac{5\pm\sqrt{13}}{2}`, r`\frac{5+\sqrt{13}}{2}, 1, \frac{5-\sqrt{13}}{2}`],
      [r`10^{\circ}$,$80^{\circ}`, r`80^\circ \text{ and } 10^\circ`],
      ["(4,1),(2,2)", "(2,2),(4,1)"],
      [r`1, 4, 9, . . .`, r`1,4,9,\ldots`],
    ],
    different: [
      ["4", "4,-9"],
      ["4,-9,1", "4,-9"],
      ["(4,-9)", "4,-9"],
      ["4-9", "4,-9"],
      ["49", "4,9"],
      [r`5+\sqrt2`, r`5\pm\sqrt2`],
      ["±2, 6", "2,-2,6,-6"],
      [r`2,4,6,\ldots,2m`, r`2,4,\ldots,m`],
      [r`\{\emptyset\}`, r`\emptyset`],
      [r`\{\{4\}\}`, r`\{4\}`],
      [r`1, 4, 9, . . .`, r`1, 4, 9`],
    ],
  },
  tuples: {
    equal: [
      [r`\left(4,\frac{\pi}{3}\right)`, r`(4,\pi/3)`],
      [r`(4, 60^\circ)`, r`(4, \frac{\pi}{3})`],
      ["(a,b)=(7,-1)", "(7,-1)"],
      ["a=7,b=-1", "(a,b)=(7,-1)"],
      ["b=-1, a=7", "a = 7, b = -1"],
      [r`\left(\frac14, 2, -3\right)`, r`\frac14, 2, -3`],
      [r`\begin{pmatrix}1\\-2\end{pmatrix}`, r`(1,-2)`],
      [r`B(4,-1)`, r`(4,-1)`],
      [r`(4,+\infty)`, r`(4,\infty)`],
    ],
    different: [
      ["(7,-1)", "(-1,7)"],
      ["(7,-1)", "(7,1)"],
      ["(7,-1,0)", "(7,-1)"],
      ["(7,-1)", r`\{7,-1\}`],
      ["a=-1,b=7", "(a,b)=(7,-1)"],
      ["7", "(7,-1)"],
      [r`B(4,-1)`, r`A(4,-1)`],
      [r`B(4,1)`, r`(4,-1)`],
      [r`(4,5,6)`, r`\{4,5,6\}`],
      [r`t=4, t=5`, r`(4,5)`],
    ],
  },
  matrices: {
    equal: [
      [r`\begin{bmatrix}2&0.5\\-1&3\end{bmatrix}`, r`\begin{pmatrix} 2 & \frac12 \\ -1 & 3 \\ \end{pmatrix}`],
      [r`\frac15\begin{pmatrix}1\\-4\end{pmatrix}`, r`\begin{pmatrix} 1/5 \\ -4/5 \end{pmatrix}`],
      [r`\left(\begin{array}{cc}1&2\\3&4\end{array}\right)`, r`\begin{pmatrix}1&2\\3&4\end{pmatrix}`],
    ],
    different: [
      [r`\begin{pmatrix}2&-1\\0.5&3\end{pmatrix}`, r`\begin{pmatrix} 2 & \frac12 \\ -1 & 3 \end{pmatrix}`],
      [r`\begin{pmatrix}1\\-4\end{pmatrix}`, r`\begin{pmatrix} 1/5 \\ -4/5 \end{pmatrix}`],
      [r`\begin{pmatrix}1&-4\end{pmatrix}`, r`\begin{pmatrix} 1 \\ -4 \end{pmatrix}`],
      [r`\begin{vmatrix}1&2\\3&4\end{vmatrix}`, r`\begin{pmatrix}1&2\\3&4\end{pmatrix}`],
    ],
  },
};
