/** @internal A number with a fixed number of decimals, never "-0"; a dash for none. */
export function decimal(value: number | undefined, digits = 2): string {
  if (value === undefined || !Number.isFinite(value)) return "-";
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text;
}

/** @internal A share as a percentage; a dash for none. */
export function percent(share: number, digits = 0): string {
  return Number.isFinite(share) ? `${decimal(100 * share, digits)} %` : "-";
}

/** @internal A count with its thousands set apart. */
export function count(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}
