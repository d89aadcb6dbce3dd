/**
 * Runs in the page of vectors.ts: checks that the portal's worker returns the same bits on one core
 * and on two.
 */
import { isPortalError } from "@relicario/shared/errors";
import { createCallClient } from "../src/worker-calls.ts";
import type { EngineWorkerApi } from "../src/engine-worker-api.ts";
import type { RecoverResult, Sketch } from "../src/engine.ts";
import type { RecomputeResult } from "./recompute.ts";

declare global {
  var compareCores: (variant: string) => Promise<RecomputeResult>;
}

const fetchBytes = async (name: string) => new Uint8Array(await (await fetch(name)).arrayBuffer());
const compile = (name: string) => WebAssembly.compileStreaming(fetch(`/${name}.wasm`));

globalThis.compareCores = async (variant) => {
  const [engine, jpeg, png, script] = [
    await compile(`engine-${variant}`),
    await compile("jpeg"),
    await compile("png"),
    await (await fetch("/engine-worker.js")).text(),
  ];
  const { vectors } = (await (await fetch("/vectors.json")).json()) as {
    vectors: { pictures: readonly { name: string; choice: string; syndrome: string }[] };
  };
  const sketches = vectors.pictures.map(({ choice, syndrome }): Sketch => ({
    choice: fromHex(choice),
    syndrome: fromHex(syndrome),
  }));
  let passedCount = 0;
  const failures: string[] = [];
  const expect = (description: string, passed: boolean) => {
    if (passed) passedCount++;
    else failures.push(description);
  };

  const singleCore = await startWorker(script, 1);
  const dualCore = await startWorker(script, 2);
  try {
    for (const instance of [singleCore, dualCore]) await instance.engine.init({ engine, jpeg, png });
    for (const picture of ["spacex-turned.png", "astronaut-cropped-too-far.png"]) {
      const bytes = await fetchBytes(`/file/pictures/${picture}`);
      const [singleResult, dualResult] = [
        await singleCore.engine.recover(bytes, sketches),
        await dualCore.engine.recover(bytes, sketches),
      ];
      expect(`${picture}: the same bits and score from two cores`, serialize(singleResult) === serialize(dualResult));
    }
    const phases: string[] = [];
    const pictureBytes = await fetchBytes("/file/pictures/spacex-turned.png");
    await singleCore.engine.recover(pictureBytes, sketches, { onProgress: ({ phase }) => phases.push(phase) });
    expect("progress arrives before the result", phases.includes("decoding"));
    const controller = new AbortController();
    const cancelled = singleCore.engine.recover(pictureBytes, sketches, {
      signal: controller.signal,
      onProgress: () => {
        controller.abort();
      },
    });
    expect(
      "aborting cancels the call",
      await cancelled.then(
        () => false,
        (error: unknown) => isPortalError(error, "cancelled"),
      ),
    );
    expect(
      "on one core there is one worker",
      singleCore.calls.every(({ worker }) => worker === mainName),
    );
    for (const path of ["init", "scoreCoarseWindows", "refine", "wipe"]) {
      expect(
        `the second worker was called: ${path}`,
        dualCore.calls.some((call) => call.worker === secondName && call.path === path),
      );
    }
  } finally {
    singleCore.stop();
    dualCore.stop();
  }
  return { passedCount: passedCount, failures: failures };
};

const mainName = "engine-worker";
const secondName = "engine-search";

/** Reported by a worker: with an empty path on start, then for each call that it receives. */
interface WorkerCall {
  readonly worker: string;
  readonly path: string;
}

/**
 * Starts the worker's script after injected lines that fake the number of cores and report received
 * calls.
 */
async function startWorker(script: string, cores: number) {
  const channelName = `cores-${String(cores)}-${String(performance.now())}`;
  const calls: WorkerCall[] = [];
  const channel = new BroadcastChannel(channelName);
  channel.onmessage = ({ data }: MessageEvent<WorkerCall>) => void calls.push(data);
  const reportScript = `{
    const channel = new BroadcastChannel(${JSON.stringify(channelName)});
    Object.defineProperty(navigator, "hardwareConcurrency", { value: ${String(cores)} });
    channel.postMessage({ worker: self.name, path: "" });
    self.addEventListener("message", ({ data }) => channel.postMessage({ worker: self.name, path: data?.path?.[0] ?? "" }));
  }\n`;
  const workerUrl = URL.createObjectURL(new Blob([reportScript, script], { type: "text/javascript" }));
  const worker = new Worker(workerUrl, { name: mainName });
  const engine = createCallClient<EngineWorkerApi>(worker);
  await engine.ping(); // the second worker has already started from the same URL
  URL.revokeObjectURL(workerUrl);
  const stop = () => {
    worker.terminate();
    channel.close();
  };
  return { engine, calls, stop };
}

function serialize(result: RecoverResult): string {
  return JSON.stringify(result, (_, value: unknown) => (value instanceof Uint8Array ? [...value] : value));
}

function fromHex(text: string): Uint8Array {
  return Uint8Array.from({ length: text.length / 2 }, (_, i) => parseInt(text.slice(2 * i, 2 * i + 2), 16));
}
