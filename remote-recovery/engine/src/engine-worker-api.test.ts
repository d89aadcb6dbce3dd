import * as Comlink from "comlink";
import { PortalError } from "@relicario/shared/errors";
import { fromHex, readPhoto, vectors } from "../tests/vectors.ts";
import { createEngineWorkerApi, type EngineWorkerApi } from "./engine-worker-api.ts";
import { createCallClient, serveCalls } from "./worker-calls.ts";
import { loadModulesInNode } from "./load-engine.ts";
import type { Engine, Sketch } from "./engine.ts";

const coffee: Sketch = (() => {
  const picture = vectors.pictures.find(({ name }) => name === "coffee.png");
  if (picture === undefined) throw new Error("unknown picture");
  return { choice: fromHex(picture.choice), syndrome: fromHex(picture.syndrome) };
})();

const ports: MessagePort[] = [];
/** Both ends of a channel, closed after the test. */
function createChannel(): MessageChannel {
  const messageChannel = new MessageChannel();
  ports.push(messageChannel.port1, messageChannel.port2);
  return messageChannel;
}
afterEach(() => {
  for (const port of ports.splice(0)) port.close();
});

/** An engine behind a message channel, as behind a worker. */
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

describe("the engine behind a worker", () => {
  it("gives the engine's answers, and leaves the picture where it is", async () => {
    const { engine } = await startEngine();
    const picture = readPhoto("coffee.png");
    const size = picture.length;
    expect(await engine.inspect(picture)).toMatchObject({ verdict: "red", width: 600, height: 400 });
    expect(await engine.recover(picture, [coffee])).toMatchObject({ outcome: "recovered", errors: 0 });
    expect(picture.length).toBe(size);
  });

  it("overwrites the picture that reached it, moved or copied, and keeps no image secret", async () => {
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

  it("passes progress on", async () => {
    const { engine } = await startEngine();
    const phases: string[] = [];
    await engine.recover(readPhoto("coffee.png"), [coffee], { onProgress: ({ phase }) => phases.push(phase) });
    expect(phases).toEqual(expect.arrayContaining(["decoding", "straight"]));
  });

  it("goes on when a listener throws", async () => {
    const { engine } = await startEngine();
    const call = engine.inspect(readPhoto("coffee.png"), {
      onProgress: () => {
        throw new Error("a broken progress bar");
      },
    });
    expect(await call).toMatchObject({ verdict: "red" });
  });

  it("cancels the call on the other side", async () => {
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

  it("does not start when the signal is aborted already", async () => {
    const { engine } = await startEngine();
    expect((await catchRejection(engine.inspect(readPhoto("coffee.png"), { signal: AbortSignal.abort() }))).code).toBe(
      "cancelled",
    );
  });

  it("rebuilds PortalErrors with code and details", async () => {
    const { engine } = await startEngine();
    const error = await catchRejection(engine.enrol(readPhoto("spacex-3000x1688.jpg"), []));
    expect(error.code).toBe("picture_too_plain");
    expect(error.details).toEqual({ reasons: ["estimate"], width: 3000, height: 1688 });
  });

  it("says unknown of any other error, without its words", async () => {
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

  it("waits for the modules", async () => {
    const { port1, port2 } = createChannel();
    serveCalls(createEngineWorkerApi(), port1);
    const remote = createCallClient<EngineWorkerApi>(port2);
    const pendingCall = remote.inspect(readPhoto("coffee.png"));
    await remote.init(await loadModulesInNode());
    expect(await pendingCall).toMatchObject({ width: 600 });
  });
});
