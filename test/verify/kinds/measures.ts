// Numbers with what they count.
import type { Kind } from "./kind.ts";

const r = String.raw;

export const measures: Readonly<Record<string, Kind>> = {
  degrees: {
    equal: [
      ["62", r`62^\circ`],
      ["62°", r`62^{\circ}`],
      ["62 degrees", r`62^\circ`],
      [r`\angle ABC = 62^\circ`, r`62^\circ`],
      [r`-\frac{\pi}{4}`, r`-45^\circ`],
      [r`\cos 60^\circ`, r`\frac12`],
      [r`35^\circ\text{C}`, r`35 ^\circ C`],
    ],
    different: [
      [r`118^\circ`, r`62^\circ`],
      [r`62^2`, r`62^\circ`],
      [r`62^\circ 15'`, r`62^\circ`],
      [r`\sin 60^\circ`, r`\frac12`],
      [r`35^\circ C`, r`35^\circ F`],
    ],
  },
  money: {
    equal: [
      ["$7,250", "7250"],
      [r`\$7{,}250.00`, "7250"],
      ["7250 dollars", r`\$7250`],
      [r`125\text{ cents}`, r`\$1.25`],
      [r`4\text{ million dollars}`, "4,000,000"],
      [r`$1.25`, r`125 cents`],
    ],
    different: [
      ["$7,251", "7250"],
      [r`\$72.50`, "7250"],
      [r`12 \text{ cents}`, r`\$12`],
      [r`$1.25`, r`1.25 cents`],
    ],
  },
  units: {
    equal: [
      [r`18\text{ pages}`, "18"],
      ["18 pages", "18"],
      [r`18\,\mathrm{kg}`, "18"],
      [r`7.5\text{ ft}^2`, r`7.5 \mbox{ feet}^2`],
      ["7.5 square feet", r`7.5\text{ ft}^2`],
      [r`\frac{250}{3}\text{ km/h}`, r`\frac{250}{3} \mathrm{km/h}`],
      [r`150\text{ cm}`, r`1.5\text{ m}`],
      ["3 hours", r`180\text{ minutes}`],
      [r`4\text{ min}`, r`240\text{ s}`],
      [r`7 min`, r`7 minutes`],
      [r`7 sec`, r`7\text{ seconds}`],
      [r`30\text{ mph}`, r`30\text{ miles per hour}`],
      [r`72\text{ km/h}`, r`20\frac{\text{m}}{\text{s}}`],
      [r`3.5\text{ kg}\cdot\text{m/s}^2`, r`3.5\frac{\text{kg}\cdot\text{m}}{\text{s}^2}`],
    ],
    different: [
      [r`18\text{ kg}`, r`18\text{ g}`],
      [r`18\text{ cm}`, r`18\text{ cm}^2`],
      ["18^2", r`18\text{ cm}^2`],
      [r`3{:}15 \text{ am}`, r`3{:}15 \text{ pm}`],
      [r`\frac{\hbar}{\sqrt3}`, r`\frac{\hbar}{\sqrt3}c`],
      ["k+p", "m+p"],
      [r`4\text{ min}`, r`4\text{ s}`],
      [r`30\text{ mph}`, r`30\text{ kph}`],
      [r`20\frac{\text{m}}{\text{s}}`, r`20\frac{\text{m}}{\text{s}^2}`],
    ],
  },
  "ratios and times": {
    equal: [
      ["5 : 7", "5:7"],
      ["10:14", "5:7"],
      [r`\frac57`, "5:7"],
      ["9:05", "9:05"],
      [r`4\text{ to }9`, r`4:9`],
    ],
    different: [
      ["7:5", "5:7"],
      ["57", "5:7"],
      ["9:06", "9:05"],
      ["1:00", "11:00"],
      [r`9\text{ to }4`, r`4:9`],
    ],
  },
  "times of day with their half": {
    equal: [
      ["3:30\\text{ p.m.}", "3:30 \\text{ PM}"],
      ["3:30 am", "3:30\\text{ a.m.}"],
    ],
    different: [
      ["3:30 \\text{ AM}", "3:30 \\text{ PM}"],
      ["3:30\\text{ a.m.}", "3:30\\text{ p.m.}"],
      ["3:31\\text{ PM}", "3:30\\text{ PM}"],
    ],
  },
};
