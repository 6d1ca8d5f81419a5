/** @internal The style sheet of a report: light and dark, no fonts or images from elsewhere. */
export const STYLE = `
:root{color-scheme:light dark;--page:#fff;--panel:#f6f7f9;--text:#1d2129;--faint:#667080;--grid:#dfe3e8;
--chosen:#2563c9;--sum:#d9730d;--right:#2f8f5b;--wrong:#b9bfc8;--positive:#2f7fe0;--negative:#e0662f;--weight:#8a5cd6;
--violet:#8a5cd6;--teal:#0f8f9c;--rose:#c93a6e;--gold:#a8860b}
@media (prefers-color-scheme:dark){:root{--page:#15181d;--panel:#1d2128;--text:#e4e7ec;--faint:#98a2b0;--grid:#333a45;
--chosen:#6ea8ff;--sum:#f0a04b;--right:#4fbf85;--wrong:#5c6675;--positive:#4a94f0;--negative:#ef7a45;--weight:#a583e8;
--violet:#a583e8;--teal:#3fc1cc;--rose:#f0719d;--gold:#d9b83f}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1180px;padding:24px 20px 64px;background:var(--page);color:var(--text);font:15px/1.5 system-ui,sans-serif}
h1{font-size:26px;margin:0 0 4px}h2{font-size:20px;margin:40px 0 12px}h3{font-size:16px;margin:0 0 4px;overflow-wrap:anywhere}h4{font-size:15px;margin:16px 0 2px}
p{margin:4px 0}.note,figcaption{color:var(--faint);font-size:13px}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(460px,100%),1fr));gap:16px}
.charts.small{grid-template-columns:repeat(auto-fill,minmax(min(330px,100%),1fr));gap:12px}.small figure{padding:12px}
figure,article,.tile{margin:0;background:var(--panel);border-radius:8px;padding:16px}
figure h3{margin:0 0 4px}svg{display:block;width:100%;height:auto}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:20px 0}
.tile{padding:12px 14px}.tile b{display:block;font-size:19px;line-height:1.4}.tile span{color:var(--faint);font-size:13px}
article{margin-bottom:16px}.question{white-space:pre-wrap;overflow-wrap:anywhere}
details>summary{cursor:pointer;padding:4px 0;overflow-wrap:anywhere}details details{border-top:1px solid var(--grid)}
.wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:4px 10px;text-align:left;border-bottom:1px solid var(--grid);vertical-align:top}
th{color:var(--faint);font-weight:600;font-size:13px}
.numbers td:not(:first-child),.numbers th:not(:first-child),.cell{text-align:right}
.numbers td{white-space:nowrap}.metrics td:first-child{white-space:pre}.steps{width:100%}.steps .text{white-space:pre-wrap;overflow-wrap:anywhere;width:100%;min-width:16em}
.cell,.key,.strip span{background:color-mix(in srgb,var(--c) var(--a),transparent);white-space:nowrap}.key{padding:0 4px;border-radius:3px}
.first-error td:first-child{box-shadow:inset 4px 0 var(--negative);font-weight:700}
.right,.wrong{border-radius:3px;padding:1px 6px;background:color-mix(in srgb,var(--right) 35%,transparent)}
.wrong{background:color-mix(in srgb,var(--negative) 35%,transparent)}
.unknown{border-radius:3px;padding:1px 6px;background:color-mix(in srgb,var(--faint) 25%,transparent)}
.strip{display:inline-flex;gap:2px;vertical-align:-2px;flex-wrap:wrap;max-width:60%}.strip span{width:11px;height:14px;border-radius:2px}
.rollout-step{margin:8px 0}.rollout-step>summary{padding:8px 12px;background:var(--panel);border-radius:8px}.rollout-step>article{margin:8px 0}
.legend{display:flex;flex-wrap:wrap;gap:4px 18px;margin:0 0 12px}.legend svg{display:inline-block;width:28px;height:8px;margin-right:6px;vertical-align:2px}
.spark{width:120px;height:22px}.numbers td:first-child{overflow-wrap:anywhere}
.settings{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(340px,100%),1fr));gap:16px;margin:12px 0}
.value{overflow-wrap:anywhere}section>details{margin:12px 0}details>.charts{margin:12px 0}
`;
