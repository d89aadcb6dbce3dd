/**
 * Runs in the page of limits.ts: the engine as the portal uses it, in a worker started from a blob,
 * timed from the page.
 */
import { compileModules } from "../src/compile-modules.ts";
import { callsTo } from "../src/worker-calls.ts";
import type { EngineWorkerApi } from "../src/engine-worker-api.ts";
import type { Sketch } from "../src/engine.ts";

/** Milliseconds of each measure, and the longest time that the page could not answer meanwhile. */
export interface Times {
  readonly aligned: number;
  readonly blind: number;
  readonly refusal: number;
  readonly enrolment: number;
  readonly blocked: number;
}

declare global {
  var measure: () => Promise<Times>;
}

const bytesOf = async (name: string) => new Uint8Array(await (await fetch(`/file/${name}`)).arrayBuffer());

globalThis.measure = async () => {
  const script = await (await fetch("/worker.js")).text();
  const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const worker = new Worker(address, { name: "engine-worker" });
  const engine = callsTo<EngineWorkerApi>(worker);
  await engine.ping();
  URL.revokeObjectURL(address);
  await engine.init(await compileModules((name) => fetch(`/${name}.wasm`)));

  const [picture, cropped, stranger] = await Promise.all([bytesOf("picture"), bytesOf("cropped"), bytesOf("stranger")]);
  const sought: Sketch[] = [];
  const watch = watchPage();
  const enrolment = await time(async () => {
    sought.push((await engine.enrol(picture, [])).sketch);
  });
  const recover = (bytes: Uint8Array, outcome: string) =>
    time(async () => {
      const result = await engine.recover(bytes, sought);
      if (result.outcome !== outcome) throw new Error(`${result.outcome} instead of ${outcome}`);
    });
  const aligned = await recover(picture, "recovered");
  const blind = await recover(cropped, "recovered");
  const refusal = await recover(stranger, "not_this_picture");
  const blocked = watch();
  worker.terminate();
  return { aligned, blind, refusal, enrolment, blocked };
};

async function time(work: () => Promise<void>): Promise<number> {
  const before = performance.now();
  await work();
  return performance.now() - before;
}

/**
 * Counts how long the page's own script, or the browser on its thread, kept it from answering: its
 * longest task.
 */
function watchPage(): () => number {
  let longest = 0;
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
  });
  observer.observe({ entryTypes: ["longtask"] });
  return () => {
    for (const { duration } of observer.takeRecords()) longest = Math.max(longest, duration);
    observer.disconnect();
    return longest;
  };
}
