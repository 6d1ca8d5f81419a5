export { DEFAULT_RULES, HackGuard } from "./guard.ts";
export {
  type DivergenceRule,
  type DriftRule,
  GUARD_ACTIONS,
  type GuardAction,
  type GuardDirection,
  type GuardRule,
  type JumpRule,
  type LimitRule,
} from "./rules.ts";
