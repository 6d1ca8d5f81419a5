/** @internal Seconds by phase of a step. */
export class Timer {
  private readonly seconds = new Map<string, number>();

  /** Runs work and counts its time to a phase. */
  async time<T>(phase: string, work: () => T | Promise<T>): Promise<T> {
    const from = performance.now();
    try {
      return await work();
    } finally {
      this.seconds.set(phase, (this.seconds.get(phase) ?? 0) + (performance.now() - from) / 1000);
    }
  }

  /** `timing_s/...`, and `timing_per_token_ms/...` of the phases that go over tokens. */
  metrics(tokens: { readonly response: number; readonly all: number }): Record<string, number> {
    const out: Record<string, number> = {};
    for (const [phase, seconds] of this.seconds) {
      out[`timing_s/${phase}`] = seconds;
      const count = PER_TOKEN[phase];
      if (count !== undefined && tokens[count] > 0) {
        out[`timing_per_token_ms/${phase}`] = (1000 * seconds) / tokens[count];
      }
    }
    return out;
  }
}

// As in verl: generation by response tokens, passes by all of them.
const PER_TOKEN: Readonly<Record<string, "response" | "all">> = {
  gen: "response",
  reward: "all",
  old_log_prob: "all",
  ref: "all",
  values: "all",
  adv: "all",
  update_critic: "all",
  update_actor: "all",
};
