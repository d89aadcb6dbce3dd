/**
 * Runs in the page of vectors.ts: the portal's own worker with one core and with two, which have to
 * give the same bits.
 */
import { isPortalError } from "@relicario/shared/errors";
import { callsTo } from "../src/worker-calls.ts";
import type { EngineWorkerApi } from "../src/engine-worker-api.ts";
import type { RecoverResult, Sketch } from "../src/engine.ts";
import type { Answer } from "./recompute.ts";

declare global {
  var compareCores: (variant: string) => Promise<Answer>;
}

const bytesOf = async (name: string) => new Uint8Array(await (await fetch(name)).arrayBuffer());
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
  const answer: { passed: number; failed: string[] } = { passed: 0, failed: [] };
  const expect = (what: string, holds: boolean) => {
    if (holds) answer.passed++;
    else answer.failed.push(what);
  };

  const alone = await start(script, 1);
  const both = await start(script, 2);
  try {
    for (const one of [alone, both]) await one.engine.init({ engine, jpeg, png });
    for (const picture of ["spacex-turned.png", "astronaut-cropped-too-far.png"]) {
      const bytes = await bytesOf(`/file/pictures/${picture}`);
      const [one, two] = [await alone.engine.recover(bytes, sketches), await both.engine.recover(bytes, sketches)];
      expect(`${picture}: the same bits and score from two cores`, plain(one) === plain(two));
    }
    const phases: string[] = [];
    const shown = await bytesOf("/file/pictures/spacex-turned.png");
    await alone.engine.recover(shown, sketches, { onProgress: ({ phase }) => phases.push(phase) });
    expect("progress is heard before the answer", phases.includes("decoding"));
    const controller = new AbortController();
    const cancelled = alone.engine.recover(shown, sketches, {
      signal: controller.signal,
      onProgress: () => {
        controller.abort();
      },
    });
    expect(
      "aborting ends the call",
      await cancelled.then(
        () => false,
        (error: unknown) => isPortalError(error, "cancelled"),
      ),
    );
    expect(
      "on one core there is one worker",
      alone.heard.every(({ worker }) => worker === mainName),
    );
    for (const asked of ["init", "coarse", "refine", "wipe"]) {
      expect(
        `the second worker was asked: ${asked}`,
        both.heard.some((word) => word.worker === secondName && word.asked === asked),
      );
    }
  } finally {
    alone.stop();
    both.stop();
  }
  return answer;
};

const mainName = "engine-worker";
const secondName = "engine-search";

/** What a worker says of itself: its name when it starts, and each call that reaches it. */
interface Heard {
  readonly worker: string;
  readonly asked: string;
}

/**
 * The worker's script behind a few lines that say how many cores there are, and report what reaches
 * the worker.
 */
async function start(script: string, cores: number) {
  const channelName = `cores-${String(cores)}-${String(performance.now())}`;
  const heard: Heard[] = [];
  const channel = new BroadcastChannel(channelName);
  channel.onmessage = ({ data }: MessageEvent<Heard>) => void heard.push(data);
  const report = `{
    const channel = new BroadcastChannel(${JSON.stringify(channelName)});
    Object.defineProperty(navigator, "hardwareConcurrency", { value: ${String(cores)} });
    channel.postMessage({ worker: self.name, asked: "" });
    self.addEventListener("message", ({ data }) => channel.postMessage({ worker: self.name, asked: data?.path?.[0] ?? "" }));
  }\n`;
  const address = URL.createObjectURL(new Blob([report, script], { type: "text/javascript" }));
  const worker = new Worker(address, { name: mainName });
  const engine = callsTo<EngineWorkerApi>(worker);
  await engine.ping(); // the second worker starts from the same address
  URL.revokeObjectURL(address);
  const stop = () => {
    worker.terminate();
    channel.close();
  };
  return { engine, heard, stop };
}

/** A result as a line of text: secret, score and errors. */
function plain(result: RecoverResult): string {
  return JSON.stringify(result, (_, value: unknown) => (value instanceof Uint8Array ? [...value] : value));
}

function fromHex(text: string): Uint8Array {
  return Uint8Array.from({ length: text.length / 2 }, (_, at) => parseInt(text.slice(2 * at, 2 * at + 2), 16));
}
