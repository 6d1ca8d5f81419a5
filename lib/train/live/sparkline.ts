const BLOCKS = [..."▁▂▃▄▅▆▇█"];

/** @internal Values as a row of block characters, means of neighbours where there are more than `width`. */
export function sparkline(values: readonly number[], width: number): string {
  const columns = Math.min(width, values.length);
  const means = Array.from({ length: columns }, (_, i) => {
    const some = values.slice(
      Math.floor((i * values.length) / columns),
      Math.floor(((i + 1) * values.length) / columns),
    );
    return some.reduce((sum, value) => sum + value, 0) / some.length;
  });
  const [low, high] = [Math.min(...means), Math.max(...means)];
  // A flat curve lies in the middle.
  const heightOf = (value: number) => (high === low ? 0.5 : (value - low) / (high - low));
  return means.map((value) => BLOCKS[Math.round(heightOf(value) * (BLOCKS.length - 1))]).join("");
}
