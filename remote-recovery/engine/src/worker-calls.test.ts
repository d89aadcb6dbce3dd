import { PortalError } from "@relicario/shared/errors";

import { createCallClient, serveCalls, findSignal } from "./worker-calls.ts";

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
  readonly version?: number;
}

const ports: MessagePort[] = [];
afterEach(() => {
  for (const port of ports.splice(0)) port.close();
});

/** Serves an API through a channel, like a worker. Returns a client and both ports. */
function serveApiOnPorts<Api extends object>(api: Api) {
  const { port1: server, port2: caller } = new MessageChannel();
  ports.push(server, caller);
  serveCalls(api, server);
  return { remote: createCallClient<Api>(caller), server, caller };
}

const serveApi = <Api extends object>(api: Api) => serveApiOnPorts(api).remote;

describe("options of a call", () => {
  it("arrive with signal, functions and plain members", async () => {
    const api = serveApi({
      look: async (options: CallOptions) => [
        options.signal instanceof AbortSignal,
        typeof options.onProgress,
        options.version,
      ],
    });
    expect(await api.look({ signal: new AbortController().signal, onProgress: () => undefined, version: 3 })).toEqual([
      true,
      "function",
      3,
    ]);
    expect(await api.look({ version: 3 })).toEqual([false, "undefined", 3]);
  });

  it("abort the call on the other side, without the reason", async () => {
    const reasons: unknown[] = [];
    const api = serveApi({
      wait: ({ signal }: CallOptions) =>
        new Promise<never>((_, reject) => {
          signal?.addEventListener("abort", () => {
            reasons.push(signal.reason);
            reject(new PortalError("cancelled"));
          });
        }),
    });
    const controller = new AbortController();
    const call = api.wait({ signal: controller.signal });
    controller.abort("a secret reason");
    await expect(call).rejects.toMatchObject({ code: "cancelled" });
    expect(reasons).not.toContain("a secret reason");
  });

  it("arrive aborted when their signal is already aborted", async () => {
    const api = serveApi({ look: async ({ signal }: CallOptions) => signal?.aborted });
    expect(await api.look({ signal: AbortSignal.abort() })).toBe(true);
  });

  it("report all progress in order before the call resolves", async () => {
    const api = serveApi({
      count: async ({ onProgress }: CallOptions) => {
        for (let done = 1; done <= 50; done++) onProgress?.(done, 50);
        return "answered";
      },
    });
    const received: unknown[] = [];
    received.push(await api.count({ onProgress: (done) => received.push(done) }));
    expect(received).toEqual([...Array.from({ length: 50 }, (_, index) => index + 1), "answered"]);
  });

  it("report all progress before the call rejects", async () => {
    const api = serveApi({
      fail: async ({ onProgress }: CallOptions) => {
        onProgress?.(1, 2);
        throw new PortalError("storage_full", { details: { fields: ["content"] } });
      },
    });
    const received: number[] = [];
    await expect(api.fail({ onProgress: (done) => received.push(done) })).rejects.toMatchObject({
      code: "storage_full",
      details: { fields: ["content"] },
    });
    expect(received).toEqual([1]);
  });

  it("leave no listener on the signal after a call, whether it succeeds or fails", async () => {
    const api = serveApi({
      end: async ({ version }: CallOptions) => {
        if (version === 2) throw new PortalError("not_found");
      },
    });
    const { signal } = new AbortController();
    const [added, removed] = [jest.spyOn(signal, "addEventListener"), jest.spyOn(signal, "removeEventListener")];
    await api.end({ signal });
    await api.end({ signal, version: 2 }).catch(() => undefined);
    while (removed.mock.calls.length < 2) await new Promise((resolve) => setImmediate(resolve));
    expect(added.mock.calls.map(([, listener]) => listener)).toHaveLength(2);
    expect(removed.mock.calls.map(([, listener]) => listener)).toEqual(
      added.mock.calls.map(([, listener]) => listener),
    );
  });

  it("may be used for two calls at once", async () => {
    const api = serveApi({
      work: async ({ onProgress, signal }: CallOptions, call: number) => {
        if (call === 2) await new Promise((resolve) => signal?.addEventListener("abort", resolve));
        onProgress?.(call, 0);
        return signal?.aborted;
      },
    });
    const received: number[] = [];
    const controller = new AbortController();
    const options: CallOptions = { signal: controller.signal, onProgress: (done) => received.push(done) };
    const calls = [api.work(options, 1), api.work(options, 2)];
    await calls[0];
    controller.abort();
    expect(await Promise.all(calls)).toEqual([false, true]);
    expect(received).toEqual([1, 2]);
  });

  it("let the call resolve when a listener throws", async () => {
    const api = serveApi({
      tell: async ({ onProgress }: CallOptions) => {
        onProgress?.(1, 1);
        return "answered";
      },
    });
    const onProgress = () => {
      throw new Error("a broken progress bar");
    };
    expect(await api.tell({ onProgress })).toBe("answered");
  });
});

describe("errors", () => {
  it("arrive as unknown and without message, unless they are PortalErrors", async () => {
    const api = serveApi({
      fail: async (): Promise<string> => {
        throw new Error("AGE-SECRET-KEY");
      },
    });
    const error: unknown = await api.fail().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "unknown", message: "unknown" });
    expect(JSON.stringify(error)).not.toContain("AGE-SECRET-KEY");
  });
});

describe("a message that cannot be deserialized", () => {
  it.each(["server", "caller"] as const)("at the %s rejects the waiting call, not later ones", async (end) => {
    let handleCall: () => void = () => undefined;
    const received = new Promise<void>((resolve) => {
      handleCall = resolve;
    });
    const { remote, ...ends } = serveApiOnPorts({
      wait: () => new Promise<never>(handleCall),
      answer: async () => "an answer",
    });
    const call = remote.wait();
    await received;
    ends[end].dispatchEvent(new Event("messageerror"));
    await expect(call).rejects.toMatchObject({ code: "vault_unavailable" });
    expect(await remote.answer()).toBe("an answer");
  });
});

describe("findSignal", () => {
  it("finds the signal in the options, and nowhere else", () => {
    const { signal } = new AbortController();
    expect(findSignal(["id", new Uint8Array(3), { signal }])).toBe(signal);
    expect(findSignal(["id", { onProgress: () => undefined }, null, [signal]])).toBeUndefined();
  });
});
