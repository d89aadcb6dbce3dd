/**
 * Runs in the page of limits.ts: times the engine in a worker that starts from a blob, like the
 * portal's.
 */
import { compileModules } from "../src/compile-modules.ts";
import { createCallClient } from "../src/worker-calls.ts";
import type { EngineWorkerApi } from "../src/engine-worker-api.ts";
import type { Sketch } from "../src/engine.ts";

/** Milliseconds of each call. `blocked` is the page's longest task during the calls. */
export interface MeasuredTimes {
  readonly aligned: number;
  readonly blind: number;
  readonly refusal: number;
  readonly enrolment: number;
  readonly blocked: number;
}

declare global {
  var measure: () => Promise<MeasuredTimes>;
}

const fetchBytes = async (name: string) => new Uint8Array(await (await fetch(`/file/${name}`)).arrayBuffer());

globalThis.measure = async () => {
  const script = await (await fetch("/worker.js")).text();
  const workerUrl = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const worker = new Worker(workerUrl, { name: "engine-worker" });
  const engine = createCallClient<EngineWorkerApi>(worker);
  await engine.ping();
  URL.revokeObjectURL(workerUrl);
  await engine.init(await compileModules((name) => fetch(`/${name}.wasm`)));

  const [picture, cropped, otherPicture] = await Promise.all([
    fetchBytes("picture"),
    fetchBytes("cropped"),
    fetchBytes("stranger"),
  ]);
  const sketches: Sketch[] = [];
  const stopObserving = observeLongTasks();
  const enrolment = await measureTime(async () => {
    sketches.push((await engine.enrol(picture, [])).sketch);
  });
  const recover = (bytes: Uint8Array, outcome: string) =>
    measureTime(async () => {
      const result = await engine.recover(bytes, sketches);
      if (result.outcome !== outcome) throw new Error(`the call ended with ${result.outcome}, expected ${outcome}`);
    });
  const aligned = await recover(picture, "recovered");
  const blind = await recover(cropped, "recovered");
  const refusal = await recover(otherPicture, "not_this_picture");
  const blocked = stopObserving();
  worker.terminate();
  return { aligned, blind, refusal, enrolment, blocked };
};

async function measureTime(task: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await task();
  return performance.now() - start;
}

/**
 * Observes the page's long tasks. The returned function stops and returns the longest, in
 * milliseconds.
 */
function observeLongTasks(): () => number {
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
