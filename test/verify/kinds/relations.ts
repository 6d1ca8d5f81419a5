// Equations and congruences.
import type { Kind } from "./kind.ts";

const r = String.raw;

export const relations: Readonly<Record<string, Kind>> = {
  equations: {
    equal: [
      ["w=9", "9"],
      ["9=w", "w=9.0"],
      ["-3a-5b+2=0", "3a+5b-2=0"],
      ["6a+10b=4", "3a+5b-2=0"],
      [r`b=-\frac35a+\frac25`, "3a+5b-2=0"],
      ["g(x)=4x", "4x"],
      ["g(s)=4s", "g(x) = 4 x"],
      ["h(n)=3, g(n)=n^2", "g(n)=n^2$, $h(n)=3"],
      ["PQR=QS", "QS=PQR"],
      ["3+3+3=9", "9"],
      ["P(2,5) = 0", "0"],
      ["|a-b| = 21", "21"],
      ["a+b = 21", "21"],
      ["v_T = 310", "310"],
      [r`\cos\alpha = \frac{1}{7}`, r`\frac17`],
      [r`2\pi m, \pi+2\pi m \text{ for } m\in\mathbb{Z}`, r`\pi+2\pi m, 2\pi m`],
      ["L=\\frac34\\sqrt5", "\\frac34\\sqrt5"],
      [r`\frac{\pi}{5}+m\pi, m\in\mathbb{Z}`, r`\frac{\pi}{5}+m\pi`],
      [r`t=\frac{\pi}{5}+m\pi\ (m\in\mathbb{Z})`, r`\frac{\pi}{5}+m\pi`],
      [r`a+b\le6`, r`b\le6-a`],
      [r`3a-3b<6`, r`a<b+2`],
    ],
    different: [
      ["3a+5b+2=0", "3a+5b-2=0"],
      ["3a-5b-2=0", "3a+5b-2=0"],
      ["0", "3a+5b-2=0"],
      ["w=-9", "9=w"],
      ["v=9", "w=9"],
      ["g(4)=x", "g(x)=4x"],
      ["g(x)=4+x", "g(x)=4x"],
      ["QR=QS", "QS=PQR"],
      [r`\frac{x^2}{9}+\frac{y^2}{5}=1`, r`\frac{x^2}{3}+\frac{y^2}{5}=1`],
      [r`\forall t>0, g(t)=0`, "g(t)=0"],
      ["QS", "QS=PQR"],
      [r`\frac{\pi}{5}+2m\pi, m\in\mathbb{Z}`, r`\frac{\pi}{5}+m\pi`],
      [r`a+b\ge6`, r`b\le6-a`],
      [r`-a+b<-2`, r`a<b+2`],
    ],
  },
  residues: {
    equal: [
      [r`x \equiv 4 \pmod{9}`, r`4 \pmod 9`],
      [r`4 (mod 9)`, r`x\equiv4\pmod9`],
      [r`13\pmod 9`, r`4\pmod{9}`],
      [r`4`, r`4\pmod 9`],
    ],
    different: [
      [r`4\pmod 9`, r`4\pmod 8`],
      [r`5\pmod 9`, r`4\pmod 9`],
      [r`x\equiv 4\pmod{9}`, r`x\equiv -4\pmod{9}`],
      [r`13`, r`4\pmod 9`],
    ],
  },
};
