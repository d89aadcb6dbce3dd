/** Starts the two workers from a blob URL, like the portal. */
import * as Comlink from "comlink";

import type { BenchWorker, Figures } from "./sealing.worker.ts";

declare global {
  var measureSealing: (megabytes: number, rounds: number) => Promise<Figures>;
}

globalThis.measureSealing = async (megabytes, rounds) => {
  const scriptUrl = URL.createObjectURL(
    new Blob([await (await fetch("/worker.js")).text()], { type: "text/javascript" }),
  );
  const [mainWorker, digestWorker] = [new Worker(scriptUrl), new Worker(scriptUrl)].map((worker) =>
    Comlink.wrap<BenchWorker>(worker),
  );
  if (mainWorker === undefined || digestWorker === undefined) throw new TypeError("the two workers did not start");
  const { port1, port2 } = new MessageChannel();
  await digestWorker.serveDigests(Comlink.transfer(port2, [port2]));
  return mainWorker.measure(Comlink.transfer(port1, [port1]), megabytes, rounds);
};
