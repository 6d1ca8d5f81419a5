// "short": posts a result. "long": starts several long jobs, says so, and waits to be ended. "exit": ends itself mid-work.
import { parentPort, workerData } from "node:worker_threads";
import { short, startLong } from "./long-job.mjs";

if (workerData === "short") {
  parentPort.postMessage(await short());
} else {
  const run = startLong();
  const jobs = [run(), run(), run()];
  if (workerData === "exit") setTimeout(() => process.exit(3), 30);
  parentPort.postMessage("started");
  await Promise.all(jobs);
}
