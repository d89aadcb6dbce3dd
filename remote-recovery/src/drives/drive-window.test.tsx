import { getRedirectUrl, openDriveWindow, type DriveWindow } from "./drive-window.ts";

/**
 * Fake of BroadcastChannel, which jsdom lacks: channels of one name receive each other's messages.
 */
class FakeChannel {
  static readonly openChannels = new Set<FakeChannel>();
  onmessage: ((event: { data: unknown }) => void) | null = null;
  readonly name: string;

  constructor(name: string) {
    this.name = name;
    FakeChannel.openChannels.add(this);
  }
  postMessage(data: unknown): void {
    for (const channel of FakeChannel.openChannels)
      if (channel !== this && channel.name === this.name) channel.onmessage?.({ data });
  }
  close(): void {
    FakeChannel.openChannels.delete(this);
  }
}

let popup: {
  closed: boolean;
  readonly visited: string[];
  readonly location: { replace: (url: string) => void };
  readonly close: () => void;
};
let controller: AbortController;
let onLost: jest.Mock;

beforeEach(() => {
  FakeChannel.openChannels.clear();
  Object.defineProperty(globalThis, "BroadcastChannel", { configurable: true, value: FakeChannel });
  controller = new AbortController();
  onLost = jest.fn();
  const visited: string[] = [];
  popup = {
    closed: false,
    visited,
    location: { replace: (url) => visited.push(url) },
    close: () => {
      popup.closed = true;
    },
  };
  jest.spyOn(window, "open").mockReturnValue(popup as unknown as Window);
});
afterEach(() => {
  jest.restoreAllMocks();
  Reflect.deleteProperty(globalThis, "BroadcastChannel");
});

const open = (): DriveWindow => openDriveWindow({ signal: controller.signal, onLost });
const getState = (url = popup.visited.slice(-1).join("")): string => new URL(url).searchParams.get("state") ?? "";
/** Acts as the redirect page. */
function redirect(state: string, parameters: string): FakeChannel {
  const channel = new FakeChannel(`drive-answer:${state}`);
  channel.postMessage({ answer: `state=${state}&${parameters}` });
  return channel;
}

describe("the popup of a drive", () => {
  it("returns the response with its random state", async () => {
    const responsePromise = open().requestAuthorization(new URL("https://accounts.example/auth?client_id=g"));
    expect(popup.visited).toEqual([
      expect.stringMatching(/^https:\/\/accounts\.example\/auth\?client_id=g&state=[0-9a-f]{32}$/),
    ]);
    redirect(getState(), "code=c");
    expect((await responsePromise).get("code")).toBe("c");
  });

  it("ignores a response with another state", async () => {
    const responsePromise = open().requestAuthorization(new URL("https://accounts.example/auth"));
    const onResponse = jest.fn();
    void responsePromise.then(onResponse);
    const channel = new FakeChannel(`drive-answer:${getState()}`);
    channel.postMessage({ answer: "state=another&code=evil" });
    channel.postMessage("nonsense");
    await Promise.resolve();
    expect(onResponse).not.toHaveBeenCalled();
    channel.postMessage({ answer: `state=${getState()}&code=c` });
    expect((await responsePromise).get("code")).toBe("c");
  });

  it.each(["access_denied", "invalid_scope"])(
    "rejects with consent_required when the response is %s",
    async (error) => {
      const responsePromise = open().requestAuthorization(new URL("https://accounts.example/auth"));
      redirect(getState(), `error=${error}`);
      await expect(responsePromise).rejects.toMatchObject({ code: "consent_required" });
    },
  );

  it("opens the next URL in the same popup through the redirect page, with a new state", async () => {
    const driveWindow = open();
    const responsePromise = driveWindow.requestAuthorization(new URL("https://accounts.example/first"));
    const page = redirect(getState(), "code=c");
    const messages: unknown[] = [];
    page.onmessage = ({ data }) => messages.push(data);
    await responsePromise;
    const secondResponse = driveWindow.requestAuthorization(new URL("https://accounts.example/second"));
    expect(popup.visited).toHaveLength(1);
    const [{ address } = { address: "" }] = messages as { address: string }[];
    expect(messages).toEqual([
      { next: "go", address: expect.stringMatching(/^https:\/\/accounts\.example\/second\?state=[0-9a-f]{32}$/) },
    ]);
    redirect(getState(address), "access_token=t");
    expect((await secondResponse).get("access_token")).toBe("t");
  });

  it("posts through this origin's redirect page, which it opens first", async () => {
    const postPromise = open().postForm("https://picker.example", { access_token: "t" });
    expect(popup.visited[0]).toMatch(new RegExp(`^${getRedirectUrl().replaceAll(".", "\\.")}\\?state=`));
    const messages: unknown[] = [];
    const page = redirect(getState(), "x=1");
    page.onmessage = ({ data }) => messages.push(data);
    await postPromise;
    expect(messages).toEqual([{ next: "post", address: "https://picker.example", fields: { access_token: "t" } }]);
  });

  it("reports that it was closed, and still accepts the response", async () => {
    jest.useFakeTimers();
    try {
      const responsePromise = open().requestAuthorization(new URL("https://accounts.example/auth"));
      popup.closed = true;
      jest.advanceTimersByTime(2000);
      expect(onLost).toHaveBeenCalledTimes(1);
      redirect(getState(), "code=c");
      expect((await responsePromise).get("code")).toBe("c");
    } finally {
      jest.useRealTimers();
    }
  });

  it("rejects with cancelled on abort, and closes", async () => {
    const driveWindow = open();
    const responsePromise = driveWindow.requestAuthorization(new URL("https://accounts.example/auth"));
    controller.abort();
    await expect(responsePromise).rejects.toMatchObject({ code: "cancelled" });
    driveWindow.close();
    expect(popup.closed).toBe(true);
    expect(FakeChannel.openChannels.size).toBe(0);
  });

  it("throws popup_blocked if the browser opens none", () => {
    jest.spyOn(window, "open").mockReturnValue(null);
    expect(open).toThrow("popup_blocked");
  });
});
