import { createChannel, type Channel } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import {
  createVaultFrame,
  frameTimeoutMs,
  loadedTimeoutMs,
  pingIntervalMs,
  unansweredPingLimit,
} from "./vault-frame.ts";

const vaultOrigin = "https://vault.example";

/** The frame's side: a window that only the page's frame element has. */
function setUp() {
  const frame = createVaultFrame({ vaultOrigin, rolloutBucket: 42, window });
  const findElement = (): HTMLIFrameElement => {
    const element = document.querySelector("iframe");
    if (element === null) throw new Error("there is no frame");
    return element;
  };
  const post = (data: unknown, { origin = vaultOrigin, source = findElement().contentWindow } = {}): void => {
    window.dispatchEvent(new MessageEvent("message", { data, origin, source }));
  };
  /** Answers as the frame does. */
  const connectFrame = (): Channel => {
    const element = findElement();
    const listeners = new Set<(message: unknown) => void>();
    if (element.contentWindow === null) throw new Error("the frame has no window");
    jest.spyOn(element.contentWindow, "postMessage").mockImplementation(((message: unknown, target: string) => {
      expect(target).toBe(vaultOrigin);
      for (const listener of listeners) listener(structuredClone(message));
    }) as Window["postMessage"]);
    return createChannel({
      post: (message) => {
        post(structuredClone(message));
      },
      listen: (listener) => {
        listeners.add(listener);
        return () => undefined;
      },
    });
  };
  return { frame, findElement, post, connectFrame };
}

const ready = { relicario: "vault-ready" };

afterEach(() => {
  document.body.replaceChildren();
  jest.useRealTimers();
});

describe("createVaultFrame", () => {
  it("creates one hidden frame of the vault's origin, at the first call", async () => {
    const { frame, findElement, post } = setUp();
    expect(document.querySelector("iframe")).toBeNull();
    const [first, second] = [frame.getChannel(), frame.getChannel()];
    const element = findElement();
    expect(element.src).toBe(`${vaultOrigin}/controller#portal=http%3A%2F%2Flocalhost&bucket=42`);
    expect(element).toMatchObject({ hidden: true, tabIndex: -1, title: "vault" });
    post(ready);
    expect(await first).toBe(await second);
    expect(document.querySelectorAll("iframe")).toHaveLength(1);
  });

  it("passes calls in both directions", async () => {
    const { frame, post, connectFrame } = setUp();
    const channelPromise = frame.getChannel();
    const frameChannel = connectFrame();
    frameChannel.serve("vault", { ping: () => "pong" });
    post(ready);
    const channel = await channelPromise;
    channel.serve("portal", { getToken: () => "token" });
    await expect(channel.call("vault", ["ping"])).resolves.toBe("pong");
    await expect(frameChannel.call("portal", ["getToken"])).resolves.toBe("token");
  });

  it("hears neither another origin nor another window", async () => {
    jest.useFakeTimers();
    const { frame, post } = setUp();
    const channelPromise = frame.getChannel();
    post(ready, { origin: "https://evil.example" });
    post(ready, { source: window });
    jest.advanceTimersByTime(frameTimeoutMs);
    await expect(channelPromise).rejects.toMatchObject({ code: "vault_unavailable", details: { reason: "timed_out" } });
  });

  it("tries again with another frame after one that did not answer", async () => {
    jest.useFakeTimers();
    const { frame, post, findElement } = setUp();
    const failed = frame.getChannel();
    const firstElement = findElement();
    jest.advanceTimersByTime(frameTimeoutMs);
    await expect(failed).rejects.toMatchObject({ code: "vault_unavailable" });
    const channelPromise = frame.getChannel();
    expect(findElement()).not.toBe(firstElement);
    post(ready);
    await expect(channelPromise).resolves.toBeDefined();
  });

  it("soon tries again with another frame after one that loaded without the vault", async () => {
    jest.useFakeTimers();
    const { frame, post, findElement } = setUp();
    const failed = frame.getChannel();
    findElement().dispatchEvent(new Event("load")); // of the browser's own page, or one that was stopped
    jest.advanceTimersByTime(loadedTimeoutMs);
    await expect(failed).rejects.toMatchObject({ code: "vault_unavailable", details: { reason: "unreachable" } });
    const channelPromise = frame.getChannel();
    post(ready);
    findElement().dispatchEvent(new Event("load"));
    jest.advanceTimersByTime(loadedTimeoutMs);
    await expect(channelPromise).resolves.toBeDefined();
    expect(document.querySelector("iframe")).not.toBeNull();
  });

  it("closes the channel of a frame that answers no ping, and keeps one that answers, if only with an error", async () => {
    jest.useFakeTimers();
    const { frame, post, connectFrame } = setUp();
    const channelPromise = frame.getChannel();
    const frameChannel = connectFrame();
    post(ready);
    const channel = await channelPromise;
    await jest.advanceTimersByTimeAsync((unansweredPingLimit + 2) * pingIntervalMs);
    expect(document.querySelector("iframe")).not.toBeNull();
    frameChannel.close(new PortalError("unknown")); // it says nothing more
    const hangingCall = channel.call("vault", ["open"]).catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync((unansweredPingLimit + 1) * pingIntervalMs);
    expect(await hangingCall).toMatchObject({ code: "vault_unavailable", details: { reason: "gone" } });
    expect(document.querySelector("iframe")).toBeNull();
  });

  it("closes the channel of a frame that loaded something else", async () => {
    const { frame, post, findElement } = setUp();
    const channelPromise = frame.getChannel();
    findElement().dispatchEvent(new Event("load"));
    post(ready);
    const channel = await channelPromise;
    findElement().dispatchEvent(new Event("load"));
    await expect(channel.call("vault", ["ping"])).rejects.toMatchObject({ details: { reason: "restarted" } });
  });

  it("closes the channel of a frame that was navigated", async () => {
    const { frame, post } = setUp();
    const channelPromise = frame.getChannel();
    post(ready);
    const channel = await channelPromise;
    const onClose = jest.fn();
    channel.onClose(onClose);
    post(ready);
    expect(onClose).toHaveBeenCalledTimes(1);
    await expect(channel.call("vault", ["ping"])).rejects.toMatchObject({ details: { reason: "restarted" } });
  });
});
