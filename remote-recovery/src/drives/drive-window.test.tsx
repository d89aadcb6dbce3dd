import { answerUrl, openDriveWindow, type DriveWindow } from "./drive-window.ts";

/** jsdom has no BroadcastChannel: those of one name hear each other. */
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
const stateOf = (url = popup.visited.slice(-1).join("")): string => new URL(url).searchParams.get("state") ?? "";
/** What the page of the answer does. */
function answer(state: string, parameters: string): FakeChannel {
  const channel = new FakeChannel(`drive-answer:${state}`);
  channel.postMessage({ answer: `state=${state}&${parameters}` });
  return channel;
}

describe("the window of a drive", () => {
  it("gives the answer to the state that it sent, which nobody can guess", async () => {
    const answerPromise = open().requestAnswer(new URL("https://accounts.example/auth?client_id=g"));
    expect(popup.visited).toEqual([
      expect.stringMatching(/^https:\/\/accounts\.example\/auth\?client_id=g&state=[0-9a-f]{32}$/),
    ]);
    answer(stateOf(), "code=c");
    expect((await answerPromise).get("code")).toBe("c");
  });

  it("takes no answer under another state", async () => {
    const answerPromise = open().requestAnswer(new URL("https://accounts.example/auth"));
    const onAnswer = jest.fn();
    void answerPromise.then(onAnswer);
    const channel = new FakeChannel(`drive-answer:${stateOf()}`);
    channel.postMessage({ answer: "state=another&code=evil" });
    channel.postMessage("nonsense");
    await Promise.resolve();
    expect(onAnswer).not.toHaveBeenCalled();
    channel.postMessage({ answer: `state=${stateOf()}&code=c` });
    expect((await answerPromise).get("code")).toBe("c");
  });

  it.each(["access_denied", "invalid_scope"])("rejects with consent_required when the answer is %s", async (error) => {
    const answerPromise = open().requestAnswer(new URL("https://accounts.example/auth"));
    answer(stateOf(), `error=${error}`);
    await expect(answerPromise).rejects.toMatchObject({ code: "consent_required" });
  });

  it("goes on in the same window, by the page of the answer, with a new state", async () => {
    const driveWindow = open();
    const answerPromise = driveWindow.requestAnswer(new URL("https://accounts.example/first"));
    const page = answer(stateOf(), "code=c");
    const messages: unknown[] = [];
    page.onmessage = ({ data }) => messages.push(data);
    await answerPromise;
    const secondAnswer = driveWindow.requestAnswer(new URL("https://accounts.example/second"));
    expect(popup.visited).toHaveLength(1);
    const [{ address } = { address: "" }] = messages as { address: string }[];
    expect(messages).toEqual([
      { next: "go", address: expect.stringMatching(/^https:\/\/accounts\.example\/second\?state=[0-9a-f]{32}$/) },
    ]);
    answer(stateOf(address), "access_token=t");
    expect((await secondAnswer).get("access_token")).toBe("t");
  });

  it("posts from a page of this origin, when nothing was asked before", async () => {
    const postPromise = open().postForm("https://picker.example", { access_token: "t" });
    expect(popup.visited[0]).toMatch(new RegExp(`^${answerUrl().replaceAll(".", "\\.")}\\?state=`));
    const messages: unknown[] = [];
    const page = answer(stateOf(), "x=1");
    page.onmessage = ({ data }) => messages.push(data);
    await postPromise;
    expect(messages).toEqual([{ next: "post", address: "https://picker.example", fields: { access_token: "t" } }]);
  });

  it("says when it cannot be seen any more, and still takes the answer: a provider may have cut it off", async () => {
    jest.useFakeTimers();
    try {
      const answerPromise = open().requestAnswer(new URL("https://accounts.example/auth"));
      popup.closed = true;
      jest.advanceTimersByTime(2000);
      expect(onLost).toHaveBeenCalledTimes(1);
      answer(stateOf(), "code=c");
      expect((await answerPromise).get("code")).toBe("c");
    } finally {
      jest.useRealTimers();
    }
  });

  it("ends with cancelled when the person gives up, and closes", async () => {
    const driveWindow = open();
    const answerPromise = driveWindow.requestAnswer(new URL("https://accounts.example/auth"));
    controller.abort();
    await expect(answerPromise).rejects.toMatchObject({ code: "cancelled" });
    driveWindow.close();
    expect(popup.closed).toBe(true);
    expect(FakeChannel.openChannels.size).toBe(0);
  });

  it("throws popup_blocked when the browser opens none", () => {
    jest.spyOn(window, "open").mockReturnValue(null);
    expect(open).toThrow("popup_blocked");
  });
});
