import { ErrorResponse, ErrorTimeout } from "oidc-client-ts";

import { startSessionMonitor, type SessionMonitorDeps } from "./session-monitor.ts";

const frameUrl = "https://id.example.org/check-session";
const frameOrigin = "https://id.example.org";

const frameWindow = { postMessage: jest.fn<undefined, [string, string]>() };
let user: { session_state: string | null; profile: { sub: string } } | "unreadable" | null;
let log: jest.Mock;
let onSignedOut: jest.Mock;
let querySessionStatus: jest.Mock<Promise<{ session_state: string; sub?: string } | null>, []>;
let getCheckSessionIframe: jest.Mock<Promise<string | undefined>, []>;

beforeEach(() => {
  jest.useFakeTimers();
  document.body.replaceChildren();
  frameWindow.postMessage.mockReset();
  jest
    .spyOn(HTMLIFrameElement.prototype, "contentWindow", "get")
    .mockReturnValue(frameWindow as unknown as WindowProxy);
  user = { session_state: "one", profile: { sub: "s-1" } };
  log = jest.fn();
  onSignedOut = jest.fn();
  querySessionStatus = jest.fn(() => Promise.resolve(null));
  getCheckSessionIframe = jest.fn(() => Promise.resolve<string | undefined>(frameUrl));
});
afterEach(() => {
  jest.clearAllTimers();
  jest.useRealTimers();
  jest.restoreAllMocks();
});

const pass = (seconds: number) => jest.advanceTimersByTimeAsync(seconds * 1_000);
const findFrames = () => [...document.querySelectorAll("iframe")];
const listQuestions = () => frameWindow.postMessage.mock.calls.map(([text]) => text);
const answer = async (data: unknown, origin = frameOrigin) => {
  window.dispatchEvent(
    new MessageEvent("message", { data, origin, source: frameWindow as unknown as MessageEventSource }),
  );
  await pass(0);
};

/** Starts a monitor, and loads its frame. */
async function start(): Promise<void> {
  const manager = {
    getUser: () => (user === "unreadable" ? Promise.reject(new SyntaxError()) : Promise.resolve(user)),
    metadataService: { getCheckSessionIframe },
    querySessionStatus,
  } as unknown as SessionMonitorDeps["manager"];
  startSessionMonitor({ manager, clientId: "portal", onSignedOut, log });
  await pass(1.9);
  expect(findFrames()).toEqual([]); // the first screen comes first
  await pass(0.1);
  await loadFrame();
}
async function loadFrame(): Promise<void> {
  findFrames().at(-1)?.dispatchEvent(new Event("load"));
  await pass(0);
}

describe("startSessionMonitor", () => {
  it("asks the provider's frame when it has loaded, and every two seconds", async () => {
    await start();
    expect(findFrames().map(({ src, hidden }) => [src, hidden])).toEqual([[frameUrl, true]]);
    expect(frameWindow.postMessage.mock.calls).toEqual([["portal one", frameOrigin]]);
    for (let round = 0; round < 3; round += 1) {
      await answer("unchanged");
      await pass(2);
    }
    expect(listQuestions()).toHaveLength(4);
    expect(onSignedOut).not.toHaveBeenCalled();
  });

  it("asks a frame that does not answer once in 30 seconds, and loads it again, so that it recovers", async () => {
    await start();
    await pass(29);
    expect(listQuestions()).toHaveLength(1);
    const [firstFrame] = findFrames();
    await pass(3);
    expect(findFrames()).toHaveLength(1);
    expect(findFrames()[0]).not.toBe(firstFrame);
    await loadFrame();
    await answer("unchanged");
    await pass(2);
    expect(listQuestions()).toHaveLength(3);
  });

  it("tries again after 30 seconds when the provider is away", async () => {
    getCheckSessionIframe.mockRejectedValueOnce(new TypeError("Failed to fetch"));
    await start();
    expect(findFrames()).toEqual([]);
    expect(log).toHaveBeenCalledTimes(1);
    await pass(28);
    expect(findFrames()).toEqual([]);
    await pass(4);
    expect(findFrames()).toHaveLength(1);
  });

  it("loads no frame when the provider has none, or no one is signed in", async () => {
    getCheckSessionIframe.mockResolvedValueOnce(undefined);
    await start();
    for (const noUser of [null, "unreadable"] as const) {
      user = noUser;
      await start();
      await pass(60);
    }
    expect(findFrames()).toEqual([]);
    expect(getCheckSessionIframe).toHaveBeenCalledTimes(1);
  });

  it.each<[string, () => Promise<{ session_state: string; sub?: string } | null>]>([
    ["has no session", () => Promise.resolve(null)],
    ["has another person's session", () => Promise.resolve({ session_state: "two", sub: "s-2" })],
    ["asks for a sign-in", () => Promise.reject(new ErrorResponse({ error: "login_required" }))],
  ])("reports a sign-out when the frame has noticed a change and the provider %s", async (_, queryResult) => {
    querySessionStatus.mockImplementation(queryResult);
    await start();
    await answer("changed");
    expect(onSignedOut).toHaveBeenCalledTimes(1);
  });

  it("continues with the new state when the person still has a session", async () => {
    querySessionStatus.mockResolvedValue({ session_state: "two", sub: "s-1" });
    await start();
    await answer("changed");
    await pass(2);
    await answer("unchanged");
    user = { session_state: "three", profile: { sub: "s-1" } }; // a renewal stores the state
    await pass(2);
    expect(listQuestions()).toEqual(["portal one", "portal two", "portal three"]);
    expect(onSignedOut).not.toHaveBeenCalled();
  });

  it.each<[string, Error]>([
    ["does not answer", new ErrorTimeout("IFrame timed out without a response")],
    ["cannot be reached", new TypeError("Failed to fetch")],
    ["reports an error", new ErrorResponse({ error: "temporarily_unavailable" })],
  ])("takes a provider that %s for no sign-out, and asks again after 30 seconds", async (_, error) => {
    querySessionStatus.mockRejectedValueOnce(error);
    await start();
    await answer("changed");
    expect([onSignedOut.mock.calls.length, log.mock.calls.length]).toEqual([0, 1]);
    await pass(32);
    await loadFrame();
    await answer("changed");
    expect(onSignedOut).toHaveBeenCalledTimes(1);
  });

  it("ignores the result of a query when the person has signed in again meanwhile", async () => {
    querySessionStatus.mockImplementation(() => {
      user = { session_state: "newer", profile: { sub: "s-1" } };
      return Promise.resolve(null);
    });
    await start();
    await answer("changed");
    await pass(2);
    expect(onSignedOut).not.toHaveBeenCalled();
    expect(listQuestions().at(-1)).toBe("portal newer");
  });

  it("ignores messages of other origins", async () => {
    await start();
    await answer("changed", "https://evil.example");
    expect(querySessionStatus).not.toHaveBeenCalled();
  });
});
