// Numbers that are no fractions.
import type { Kind } from "./kind.ts";

const r = String.raw;

export const constants: Readonly<Record<string, Kind>> = {
  radicals: {
    equal: [
      [r`\sqrt{50}`, r`5\sqrt2`],
      ["5sqrt(2)", r`5\sqrt{2}`],
      ["5√2", r`5\sqrt{2}`],
      [r`\frac{10}{\sqrt 2}`, r`5\sqrt{2}`],
      [r`\sqrt{7+2\sqrt{10}}`, r`\sqrt2+\sqrt5`],
      [r`\frac{1}{3-\sqrt 5}`, r`\frac{3+\sqrt5}{4}`],
      [r`\sqrt[3]{16}`, r`2\sqrt[3]{2}`],
      [r`\sqrt[3]{-27}`, "-3"],
    ],
    different: [
      [r`2\sqrt5`, r`5\sqrt2`],
      [r`\sqrt{52}`, r`5\sqrt2`],
      ["7.0711", r`5\sqrt2`],
      ["1.4142135623730951", r`\sqrt2`],
      [r`5\sqrt{2`, r`5\sqrt{2}`],
      [r`5\sqrt{}2`, r`5\sqrt{2}`],
      ["sqrt(5-2)", r`\sqrt5-2`],
    ],
  },
  "pi, e and logarithms": {
    equal: [
      ["pi/5", r`\frac{\pi}{5}`],
      ["3π", r`3\pi`],
      [r`(3\pi-1)(3\pi+1)`, r`9\pi^2-1`],
      ["exp(9) - 2", r`e^{9}-2`],
      [r`2-e^{-2}`, r`2-\frac{1}{\mathrm{e}^2}`],
      [r`\ln\frac{1}{9}`, r`-2\ln 3`],
      [r`\log_{3/5} 4`, r`\frac{\ln 4}{\ln 3-\ln 5}`],
      [r`\log_2 32`, "5"],
      [r`\log 1000`, "3"],
    ],
    different: [
      ["3.1416", r`\pi`],
      [r`\frac{355}{113}`, r`\pi`],
      ["9e-2", r`e^9-2`],
      [r`\ln 9`, r`-2\ln 3`],
      [r`\frac{\ln5}{\ln3}`, r`\ln5-\ln3`],
      [r`\log_2 33`, "5"],
    ],
  },
  "complex numbers": {
    equal: [
      ["-7i+3", "3 - 7i"],
      [r`3+(-7)i`, "3-7i"],
      [r`2+i\sqrt5`, r`2+\sqrt{5}\,i`],
      [r`4e^{i\pi/2}`, "4i"],
      [r`\frac{1}{1+i}`, r`\frac{1-i}{2}`],
    ],
    different: [
      ["7-3i", "3-7i"],
      [r`2+\sqrt{5i}`, r`2+\sqrt5 i`],
      ["3+7i", "3-7i"],
      ["3-7", "3-7i"],
    ],
  },
};
