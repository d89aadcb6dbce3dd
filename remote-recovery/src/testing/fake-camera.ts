import { createChannel, type Channel } from "@relicario/shared/contract";

export interface FakeCamera {
  readonly id: string;
  readonly facing?: "user" | "environment";
}

/** Fakes the camera API, which jsdom lacks. */
export function mockCamera(
  getUserMedia: (constraints: MediaStreamConstraints) => Promise<unknown>,
  cameras: readonly FakeCamera[] = [{ id: "one" }],
): void {
  const enumerateDevices = () => Promise.resolve(cameras.map(({ id }) => ({ kind: "videoinput", deviceId: id })));
  Object.defineProperty(navigator, "mediaDevices", { configurable: true, value: { getUserMedia, enumerateDevices } });
}

export function removeCamera(): void {
  Reflect.deleteProperty(navigator, "mediaDevices");
}

export function createFakeStream(stop: () => void = () => undefined, { id, facing }: FakeCamera = { id: "one" }) {
  const track = Object.assign(new EventTarget(), {
    stop,
    getSettings: () => ({ deviceId: id, ...(facing === undefined ? {} : { facingMode: facing }) }),
  });
  return {
    getTracks: () => [track],
    getVideoTracks: () => [track],
    end: () => track.dispatchEvent(new Event("ended")),
  };
}

/** A window that `window.open` returned, and the channel of its document. */
export interface FakeWindow {
  readonly address: string;
  readonly name: string;
  closed: boolean;
  readonly document: Channel;
  /** Posts as a document of another origin would in the same window. */
  readonly postFrom: (origin: string, data: unknown) => void;
}

/** Makes `window.open` return fake windows; restored by `jest.restoreAllMocks`. */
export function mockWindows(): readonly FakeWindow[] {
  const windows: FakeWindow[] = [];
  jest.spyOn(window, "open").mockImplementation((address, name) => {
    const listeners = new Set<(message: unknown) => void>();
    const postFrom = (origin: string, data: unknown): void => {
      // jsdom accepts only its own windows as a source
      window.dispatchEvent(Object.assign(new Event("message"), { data, origin, source: peer }));
    };
    const fakeWindow: FakeWindow = {
      address: String(address),
      name: name ?? "",
      closed: false,
      document: createChannel({
        post: (message) => {
          postFrom(window.location.origin, message);
        },
        listen: (listener) => {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      }),
      postFrom,
    };
    const peer = Object.defineProperties(
      {
        postMessage: (message: unknown, target: unknown) => {
          if (target === window.location.origin) for (const listener of listeners) listener(message);
        },
        close: () => {
          fakeWindow.closed = true;
        },
      },
      { closed: { get: () => fakeWindow.closed } },
    );
    windows.push(fakeWindow);
    return peer as unknown as Window;
  });
  return windows;
}
