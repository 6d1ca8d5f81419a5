// Scenarios by name; prints what the test expects, or fails.
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { short, startLong } from "./long-job.mjs";

const start = (job) => new Worker(new URL("./worker.mjs", import.meta.url), { workerData: job });
const soon = () => new Promise((resolve) => setTimeout(resolve, 30));

const scenarios = {
  async several() {
    const workers = ["short", "short", "short"].map(start);
    const results = await Promise.all([
      short(),
      ...workers.map(async (worker) => (await once(worker, "message"))[0]),
    ]);
    console.log(new Set(results).size === 1 ? "same" : results);
  },
  async terminate() {
    const expected = await short();
    for (let i = 0; i < 4; i++) {
      const worker = start("long");
      await once(worker, "message");
      if (i % 2 === 0) await soon();
      await worker.terminate();
    }
    console.log((await short()) === expected ? "survived" : "changed");
  },
  // The worker's jobs stand in the queue behind one of ours: ending it must not wait for that.
  async terminateWaiting() {
    const order = [];
    const ours = startLong();
    const long = [ours(), ours(), ours()];
    const all = Promise.all(long).then(() => order.push("jobs"));
    const worker = start("long");
    await once(worker, "message");
    await worker.terminate();
    order.push("worker");
    await all;
    console.log(order.join());
  },
  async workerExit() {
    const worker = start("exit");
    const [code] = await once(worker, "exit");
    console.log(code, Number.isFinite(await short()) ? "survived" : "broken");
  },
  async exit() {
    startLong()();
    await soon();
    console.log("leaving");
    process.exit(0);
  },
  async exitWithWorkers() {
    const workers = [start("long"), start("long")];
    await Promise.all(workers.map((worker) => once(worker, "message")));
    startLong()();
    console.log("leaving");
    process.exit(0);
  },
  // Nothing but the job keeps the process alive, and nothing keeps it after the job.
  async stayAlive() {
    startLong()().then(() => console.log("done"));
  },
  async uncaught() {
    startLong()();
    await soon();
    throw new Error("on purpose");
  },
};

await scenarios[process.argv[2]]();
