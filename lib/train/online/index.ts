export { OnlinePrm, type OnlineOptions } from "./online.ts";
export { BLAME, type Blame, relabel } from "./relabel.ts";
