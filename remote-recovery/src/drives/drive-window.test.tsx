import { answerAddress, openDriveWindow, type DriveWindow } from "./drive-window.ts";

/** jsdom has no BroadcastChannel: those of one name hear each other. */
class Channel {
  static readonly all = new Set<Channel>();
  onmessage: ((event: { data: unknown }) => void) | null = null;
  readonly name: string;

  constructor(name: string) {
    this.name = name;
    Channel.all.add(this);
  }
  postMessage(data: unknown): void {
    for (const other of Channel.all) if (other !== this && other.name === this.name) other.onmessage?.({ data });
  }
  close(): void {
    Channel.all.delete(this);
  }
}

let popup: {
  closed: boolean;
  readonly visited: string[];
  readonly location: { replace: (address: string) => void };
  readonly close: () => void;
};
let over: AbortController;
let lost: jest.Mock;

beforeEach(() => {
  Channel.all.clear();
  Object.defineProperty(globalThis, "BroadcastChannel", { configurable: true, value: Channel });
  over = new AbortController();
  lost = jest.fn();
  const visited: string[] = [];
  popup = {
    closed: false,
    visited,
    location: { replace: (address) => visited.push(address) },
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

const open = (): DriveWindow => openDriveWindow({ signal: over.signal, onLost: lost });
const stateOf = (address = popup.visited.slice(-1).join("")): string =>
  new URL(address).searchParams.get("state") ?? "";
/** What the page of the answer does. */
function answer(state: string, more: string): Channel {
  const channel = new Channel(`drive-answer:${state}`);
  channel.postMessage({ answer: `state=${state}&${more}` });
  return channel;
}

describe("the window of a drive", () => {
  it("gives the answer to the state that it sent, which nobody can guess", async () => {
    const asking = open().ask(new URL("https://accounts.example/auth?client_id=g"));
    expect(popup.visited).toEqual([
      expect.stringMatching(/^https:\/\/accounts\.example\/auth\?client_id=g&state=[0-9a-f]{32}$/),
    ]);
    answer(stateOf(), "code=c");
    expect((await asking).get("code")).toBe("c");
  });

  it("takes no answer under another state", async () => {
    const asking = open().ask(new URL("https://accounts.example/auth"));
    const heard = jest.fn();
    void asking.then(heard);
    const channel = new Channel(`drive-answer:${stateOf()}`);
    channel.postMessage({ answer: "state=another&code=evil" });
    channel.postMessage("nonsense");
    await Promise.resolve();
    expect(heard).not.toHaveBeenCalled();
    channel.postMessage({ answer: `state=${stateOf()}&code=c` });
    expect((await asking).get("code")).toBe("c");
  });

  it.each(["access_denied", "invalid_scope"])("rejects with consent_required when the answer is %s", async (error) => {
    const asking = open().ask(new URL("https://accounts.example/auth"));
    answer(stateOf(), `error=${error}`);
    await expect(asking).rejects.toMatchObject({ code: "consent_required" });
  });

  it("goes on in the same window, by the page of the answer, with a new state", async () => {
    const own = open();
    const asking = own.ask(new URL("https://accounts.example/first"));
    const page = answer(stateOf(), "code=c");
    const heard: unknown[] = [];
    page.onmessage = ({ data }) => heard.push(data);
    await asking;
    const again = own.ask(new URL("https://accounts.example/second"));
    expect(popup.visited).toHaveLength(1);
    const [{ address } = { address: "" }] = heard as { address: string }[];
    expect(heard).toEqual([
      { next: "go", address: expect.stringMatching(/^https:\/\/accounts\.example\/second\?state=[0-9a-f]{32}$/) },
    ]);
    answer(stateOf(address), "access_token=t");
    expect((await again).get("access_token")).toBe("t");
  });

  it("posts from a page of this origin, when nothing was asked before", async () => {
    const posting = open().post("https://picker.example", { access_token: "t" });
    expect(popup.visited[0]).toMatch(new RegExp(`^${answerAddress().replaceAll(".", "\\.")}\\?state=`));
    const heard: unknown[] = [];
    const page = answer(stateOf(), "x=1");
    page.onmessage = ({ data }) => heard.push(data);
    await posting;
    expect(heard).toEqual([{ next: "post", address: "https://picker.example", fields: { access_token: "t" } }]);
  });

  it("says when it cannot be seen any more, and still takes the answer: a provider may have cut it off", async () => {
    jest.useFakeTimers();
    try {
      const asking = open().ask(new URL("https://accounts.example/auth"));
      popup.closed = true;
      jest.advanceTimersByTime(2000);
      expect(lost).toHaveBeenCalledTimes(1);
      answer(stateOf(), "code=c");
      expect((await asking).get("code")).toBe("c");
    } finally {
      jest.useRealTimers();
    }
  });

  it("ends with cancelled when the person gives up, and closes", async () => {
    const own = open();
    const asking = own.ask(new URL("https://accounts.example/auth"));
    over.abort();
    await expect(asking).rejects.toMatchObject({ code: "cancelled" });
    own.close();
    expect(popup.closed).toBe(true);
    expect(Channel.all.size).toBe(0);
  });

  it("throws popup_blocked when the browser opens none", () => {
    jest.spyOn(window, "open").mockReturnValue(null);
    expect(open).toThrow("popup_blocked");
  });
});
