import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import * as Comlink from "comlink";
import { PortalError } from "@relicario/shared/errors";
import { fromHex, readPhoto, readSample, vectors } from "../tests/vectors.ts";
import { createEngineWorkerApi, type CodecServer, type EngineWorkerApi } from "./engine-worker-api.ts";
import { createCallClient, serveCalls } from "./worker-calls.ts";
import { serveCodecs } from "./compile-modules.ts";
import { loadModulesInNode } from "./load-engine.ts";
import type { Engine, Sketch } from "./engine.ts";

const coffee: Sketch = (() => {
  const picture = vectors.pictures.find(({ name }) => name === "coffee.png");
  if (picture === undefined) throw new Error("unknown picture");
  return { choice: fromHex(picture.choice), syndrome: fromHex(picture.syndrome) };
})();

const webpCodecPath = fileURLToPath(new URL("../node_modules/@jsquash/webp/codec/dec/webp_dec.wasm", import.meta.url));

const ports: MessagePort[] = [];
/** Creates a channel that is closed after the test. */
function createChannel(): MessageChannel {
  const messageChannel = new MessageChannel();
  ports.push(messageChannel.port1, messageChannel.port2);
  return messageChannel;
}
afterEach(() => {
  for (const port of ports.splice(0)) port.close();
});

/** Starts an engine that is reached through a message channel, like in a worker. */
async function startEngine(): Promise<{ engine: Engine; remote: Comlink.Remote<EngineWorkerApi> }> {
  const { port1, port2 } = createChannel();
  serveCalls(createEngineWorkerApi(), port1);
  const remote = createCallClient<EngineWorkerApi>(port2);
  await remote.init(await loadModulesInNode());
  return { engine: remote, remote };
}

async function catchRejection(call: Promise<unknown>): Promise<PortalError> {
  const error: unknown = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof PortalError)) throw new Error(`expected a PortalError, got ${String(error)}`);
  return error;
}

describe("the engine in a worker", () => {
  it("returns the engine's results, and leaves the caller's picture intact", async () => {
    const { engine } = await startEngine();
    const picture = readPhoto("coffee.png");
    const size = picture.length;
    expect(await engine.inspect(picture)).toMatchObject({ verdict: "red", width: 600, height: 400 });
    expect(await engine.recover(picture, [coffee])).toMatchObject({ outcome: "recovered", errors: 0 });
    expect(picture.length).toBe(size);
  });

  it("overwrites a received picture, transferred or copied, and keeps no image secret", async () => {
    const { port1, port2 } = createChannel();
    const api = createEngineWorkerApi();
    api.init(await loadModulesInNode());
    const [pictures, secrets]: [Uint8Array[], Uint8Array[]] = [[], []];
    const recordingApi: Pick<EngineWorkerApi, "inspect" | "recover"> = {
      inspect: (picture) => {
        pictures.push(picture);
        return api.inspect(picture);
      },
      recover: async (picture, sketches) => {
        pictures.push(picture);
        const result = await api.recover(picture, sketches);
        if (result.outcome === "recovered") secrets.push(result.imageSecretBytes);
        expect(secrets[0]).toHaveLength(32);
        return result;
      },
    };
    serveCalls(recordingApi, port1);
    const remote = createCallClient<EngineWorkerApi>(port2);
    const moved = new Uint8Array(readPhoto("coffee.png"));
    const result = await remote.recover(Comlink.transfer(moved, [moved.buffer]), [coffee]);
    expect(result).toMatchObject({ outcome: "recovered" });
    expect(result.outcome === "recovered" && result.imageSecretBytes.some((byte) => byte !== 0)).toBe(true);
    expect((await catchRejection(remote.inspect(new Uint8Array(500).fill(7)))).code).toBe("picture_unreadable");
    expect(moved).toHaveLength(0);
    expect(pictures.map((picture) => [picture.length > 0, picture.every((byte) => byte === 0)])).toEqual([
      [true, true],
      [true, true],
    ]);
    expect(secrets.map(({ length }) => length)).toEqual([0]);
  });

  it("forwards progress to the caller", async () => {
    const { engine } = await startEngine();
    const phases: string[] = [];
    await engine.recover(readPhoto("coffee.png"), [coffee], { onProgress: ({ phase }) => phases.push(phase) });
    expect(phases).toEqual(expect.arrayContaining(["decoding", "straight"]));
  });

  it("completes the call when a progress listener throws", async () => {
    const { engine } = await startEngine();
    const call = engine.inspect(readPhoto("coffee.png"), {
      onProgress: () => {
        throw new Error("a broken progress bar");
      },
    });
    expect(await call).toMatchObject({ verdict: "red" });
  });

  it("cancels the call in the worker", async () => {
    const { engine } = await startEngine();
    const controller = new AbortController();
    const call = engine.recover(readPhoto("friends-2056x3088.jpg"), [coffee], {
      signal: controller.signal,
      onProgress: ({ phase }) => {
        if (phase === "searching") controller.abort();
      },
    });
    expect((await catchRejection(call)).code).toBe("cancelled");
    expect(await engine.recover(readPhoto("coffee.png"), [coffee])).toMatchObject({ outcome: "recovered" });
  });

  it("does not start a call whose signal is already aborted", async () => {
    const { engine } = await startEngine();
    expect((await catchRejection(engine.inspect(readPhoto("coffee.png"), { signal: AbortSignal.abort() }))).code).toBe(
      "cancelled",
    );
  });

  it("rejects with the engine's PortalError, code and details included", async () => {
    const { engine } = await startEngine();
    const error = await catchRejection(engine.enrol(readPhoto("spacex-3000x1688.jpg"), []));
    expect(error.code).toBe("picture_too_plain");
    expect(error.details).toEqual({ reasons: ["estimate"], width: 3000, height: 1688 });
  });

  it("rejects with unknown for any other error, without its message", async () => {
    const { engine } = await startEngine();
    const error = await catchRejection(
      engine.recover(readPhoto("coffee.png"), [{ ...coffee, choice: new Uint8Array(3) }]),
    );
    expect(error.code).toBe("unknown");
    expect(error.message).toBe("unknown");
    expect(error.cause).toBeUndefined();
  });

  it("serves a second worker on a port", async () => {
    const { remote } = await startEngine();
    const { port1, port2 } = createChannel();
    await remote.connect(Comlink.transfer(port1, [port1]));
    const secondClient = createCallClient<EngineWorkerApi>(port2);
    expect(await secondClient.inspect(readPhoto("coffee.png"))).toMatchObject({ width: 600 });
  });

  it("compiles the codec of a WebP from bytes that the page serves on a port", async () => {
    const { port1, port2 } = createChannel();
    serveCalls(createEngineWorkerApi(), port1);
    const remote = createCallClient<EngineWorkerApi>(port2);
    const names: string[] = [];
    const codecPort = serveCodecs(
      (name) => name === "webp",
      async (name) => {
        names.push(name);
        return new Response(await readFile(webpCodecPath));
      },
    );
    ports.push(codecPort);
    await remote.init(await loadModulesInNode(), codecPort);
    expect(await remote.inspect(readSample("rocket.webp"))).toMatchObject({ width: 320 });
    expect((await catchRejection(remote.inspect(readSample("rocket.avif")))).details).toEqual({
      reason: "unsupported",
      kind: "avif",
    });
    expect(names).toEqual(["webp"]);
  });

  it("gets a codec as bytes, since compiled modules do not cross a port of a page opened from disk", async () => {
    const codecPort = serveCodecs(
      () => true,
      async () => new Response(await readFile(webpCodecPath)),
    );
    ports.push(codecPort);
    expect(await createCallClient<CodecServer>(codecPort).loadCodec("webp")).toBeInstanceOf(ArrayBuffer);
  });

  it("runs earlier calls once it has received the modules", async () => {
    const { port1, port2 } = createChannel();
    serveCalls(createEngineWorkerApi(), port1);
    const remote = createCallClient<EngineWorkerApi>(port2);
    const pendingCall = remote.inspect(readPhoto("coffee.png"));
    await remote.init(await loadModulesInNode());
    expect(await pendingCall).toMatchObject({ width: 600 });
  });
});
