import { AdaptiveKlController, FixedKlController } from "../../advantage/index.ts";
import type { TrainConfig } from "../config/schema.ts";

/** @internal The controller that the config asks for, going on from a coefficient. */
export function klController(
  { controller, target, horizon }: TrainConfig["kl"],
  coefficient: number,
): FixedKlController | AdaptiveKlController {
  return controller === "fixed"
    ? new FixedKlController(coefficient)
    : new AdaptiveKlController({ initial: coefficient, target, horizon });
}
