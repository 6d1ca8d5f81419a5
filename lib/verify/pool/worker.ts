import { parentPort } from "node:worker_threads";
import { loadReader } from "../numeric/reader.ts";
import { grade } from "./grade.ts";
import type { Reply, Request } from "./protocol.ts";

const port = parentPort;

if (port !== null) {
  const reply = (message: Reply): void => port.postMessage(message);
  loadReader();
  port.on("message", ({ pairs, options }: Request) => {
    for (const pair of pairs) reply({ kind: "verdict", verdict: grade(pair, options) });
  });
  reply({ kind: "ready" });
}
