import { resolve } from "node:path";
import type { TrainConfig } from "./schema.ts";

// Sets that are made, not read, have a name with a colon.
const MADE = /^[a-z]+:[a-z-]+$/;

/** @internal Paths of a config, relative to where it stands. */
export function resolvePaths(config: TrainConfig, base: string): TrainConfig {
  const at = (path: string) => (MADE.test(path) ? path : resolve(base, path));
  const optional = <Key extends string>(key: Key, path: string | undefined) =>
    (path === undefined ? {} : { [key]: at(path) }) as { [K in Key]?: string };
  return {
    ...config,
    model: { ...config.model, path: at(config.model.path) },
    data: { ...config.data, train: at(config.data.train), ...optional("eval", config.data.eval) },
    reward: {
      ...config.reward,
      ...optional("prm", config.reward.prm),
      ...(config.reward.function?.includes(".") ? optional("function", config.reward.function) : {}),
    },
    kl: { ...config.kl, ...optional("reference", config.kl.reference) },
    critic: { ...config.critic, ...optional("path", config.critic.path) },
  };
}
