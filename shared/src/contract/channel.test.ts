import { PortalError } from "../errors/index.ts";
import { createChannel, type Channel } from "./channel.ts";

type Listener = (message: unknown) => void;

function createPair(): { readonly page: Channel; readonly frame: Channel; readonly postToFrame: Listener } {
  const listeners: [Set<Listener>, Set<Listener>] = [new Set(), new Set()];
  const post = (to: 0 | 1) => (message: unknown) => {
    const clone: unknown = structuredClone(message);
    queueMicrotask(() => {
      for (const listener of listeners[to]) listener(clone);
    });
  };
  const create = (own: 0 | 1, other: 0 | 1) =>
    createChannel({
      post: post(other),
      listen: (listener) => {
        listeners[own].add(listener);
        return () => listeners[own].delete(listener);
      },
    });
  return { page: create(0, 1), frame: create(1, 0), postToFrame: post(1) };
}

describe("createChannel", () => {
  it("calls members of a service, and of its groups, in both directions", async () => {
    const { page, frame } = createPair();
    frame.serve("vault", { double: (value: number) => value * 2, group: { name: () => Promise.resolve("inner") } });
    page.serve("portal", { getToken: () => "token" });
    await expect(page.call("vault", ["double"], [21])).resolves.toBe(42);
    await expect(page.call("vault", ["group", "name"])).resolves.toBe("inner");
    await expect(frame.call("portal", ["getToken"])).resolves.toBe("token");
  });

  it("calls the caller's functions in order, before the result", async () => {
    const { page, frame } = createPair();
    frame.serve("vault", {
      run: ({ onProgress, name }: { onProgress: (done: number) => void; name: string }) => {
        onProgress(1);
        onProgress(2);
        return name;
      },
    });
    const events: unknown[] = [];
    const result = page.call("vault", ["run"], [{ name: "kept", onProgress: (done: number) => events.push(done) }]);
    events.push(await result);
    expect(events).toEqual([1, 2, "kept"]);
  });

  it("forwards aborting, also from before the call", async () => {
    const { page, frame } = createPair();
    frame.serve("vault", {
      wait: ({ signal }: { signal: AbortSignal }) =>
        new Promise((_, reject) => {
          const stop = () => {
            reject(new PortalError("cancelled"));
          };
          if (signal.aborted) stop();
          else signal.addEventListener("abort", stop);
        }),
    });
    const controller = new AbortController();
    const call = page.call("vault", ["wait"], [{ signal: controller.signal }]);
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: "cancelled" });
    await expect(page.call("vault", ["wait"], [{ signal: AbortSignal.abort() }])).rejects.toMatchObject({
      code: "cancelled",
    });
  });

  it("carries errors as code and details, and nothing else of them", async () => {
    const { page, frame } = createPair();
    frame.serve("vault", {
      refuse: () => {
        throw new PortalError("limit_reached", { details: { limit: 32 }, cause: new Error("a secret") });
      },
      crash: () => {
        throw new Error("a secret");
      },
    });
    const error: unknown = await page.call("vault", ["refuse"]).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "limit_reached", details: { limit: 32 } });
    expect((error as PortalError).cause).toBeUndefined();
    await expect(page.call("vault", ["crash"])).rejects.toMatchObject({ code: "unknown", message: "unknown" });
  });

  it("rejects arguments and results that cannot cross", async () => {
    const { page, frame } = createPair();
    frame.serve("vault", { give: () => () => 1, take: () => 1 });
    await expect(page.call("vault", ["take"], [[() => 1]])).rejects.toMatchObject({ code: "unknown" });
    await expect(page.call("vault", ["give"])).rejects.toMatchObject({ code: "unknown" });
  });

  it.each([
    ["nothing", ["double"]],
    ["vault", ["constructor"]],
    ["vault", ["toString"]],
    ["vault", ["double", "call"]],
    ["vault", ["group"]],
    ["vault", ["group", "hasOwnProperty"]],
  ])("refuses %s %j, which is not served", async (service, path) => {
    const { page, frame } = createPair();
    frame.serve("vault", { double: () => 1, group: { name: () => 1 } });
    await expect(page.call(service, path)).rejects.toMatchObject({ code: "forbidden" });
  });

  it("drops messages of another shape", async () => {
    const { page, frame, postToFrame } = createPair();
    const run = jest.fn();
    frame.serve("vault", { run });
    const call = { relicario: "channel", kind: "call", id: 1, service: "vault", path: ["run"], args: [], options: [] };
    for (const message of [
      null,
      "call",
      { ...call, relicario: "other" },
      { ...call, id: 0 },
      { ...call, path: ["__proto__"] },
      { ...call, path: [] },
      { ...call, extra: true },
      { ...call, args: Array.from({ length: 9 }, () => 0) },
    ])
      postToFrame(message);
    frame.serve("end", { ping: () => "pong" });
    await expect(page.call("end", ["ping"])).resolves.toBe("pong");
    expect(run).not.toHaveBeenCalled();
  });

  it("rejects pending and later calls when it is closed, and aborts what it serves", async () => {
    const { page, frame } = createPair();
    let served: AbortSignal | undefined;
    frame.serve("vault", {
      wait: ({ signal }: { signal: AbortSignal }) => {
        served = signal;
        return new Promise(() => undefined);
      },
    });
    const pending = page.call("vault", ["wait"], [{ signal: new AbortController().signal }]);
    await Promise.resolve();
    await Promise.resolve();
    const listener = jest.fn();
    page.onClose(listener);
    const error = new PortalError("vault_unavailable");
    page.close(error);
    await expect(pending).rejects.toBe(error);
    await expect(page.call("vault", ["wait"])).rejects.toBe(error);
    expect(listener).toHaveBeenCalledTimes(1);
    frame.close(error);
    expect(served?.aborted).toBe(true);
  });
});
