import { ErrorTimeout, User, UserManager } from "oidc-client-ts";

import { createSignInSettings } from "./oidc-settings.ts";
import { createSignInClient } from "./sign-in-client.ts";
import { popupSettings } from "./sign-in-window.ts";

const identity = {
  authority: "http://localhost:3001/realms/relicario",
  client_id: "relicario-portal",
  scope: "openid",
};
const metadata = {
  issuer: identity.authority,
  authorization_endpoint: `${identity.authority}/auth`,
  token_endpoint: `${identity.authority}/token`,
  userinfo_endpoint: `${identity.authority}/me`,
};
const now = Math.floor(Date.now() / 1000);

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const createIdToken = (claims: object) =>
  [
    encode({ alg: "RS256" }),
    encode({ iss: identity.authority, aud: identity.client_id, sub: "s-1", iat: now, exp: now + 600, ...claims }),
    "x",
  ].join(".");

/** Fakes the popup that a browser opens. */
interface FakeWindow {
  closed: boolean;
  opener: Window | null;
  readonly location: { replace: jest.Mock<void, [string]> };
  readonly focus: () => void;
  readonly postMessage: () => void;
  readonly close: () => void;
}

function createFakeWindow(): FakeWindow {
  const popup: FakeWindow = {
    closed: false,
    opener: window,
    location: { replace: jest.fn() },
    focus: () => undefined,
    postMessage: () => undefined,
    close: () => {
      popup.closed = true;
    },
  };
  return popup;
}

/**
 * Sets up the real library with a signed-in person, and a provider that exchanges any code for this
 * ID token.
 */
async function setUp(
  popup: FakeWindow | null,
  claims: { readonly sub?: string; readonly auth_time?: number } = { auth_time: now },
  extraTokens: Readonly<Record<string, string>> = {},
) {
  const open = jest.fn(() => popup);
  window.open = open as unknown as typeof window.open;
  const fetchedUrls: string[] = [];
  globalThis.fetch = (input) => {
    const address = input instanceof Request ? input.url : String(input);
    fetchedUrls.push(address);
    if (address === metadata.userinfo_endpoint) return Promise.resolve(Response.json({ sub: claims.sub ?? "s-1" }));
    return Promise.resolve(
      Response.json({
        access_token: "newer",
        id_token: createIdToken(claims),
        token_type: "Bearer",
        expires_in: 300,
        ...extraTokens,
      }),
    );
  };
  const navigatorEvents: string[] = [];
  const client = createSignInClient(
    { ...createSignInSettings(identity, window.location.origin, sessionStorage), metadata },
    {
      onStart: (navigator) => navigatorEvents.push(`${navigator} started`),
      onEnd: (navigator) => navigatorEvents.push(`${navigator} ended`),
    },
  );
  const { manager } = client;
  await manager.storeUser(
    new User({
      access_token: "older",
      id_token: createIdToken({}),
      token_type: "Bearer",
      profile: { iss: identity.authority, aud: identity.client_id, sub: "s-1", iat: now, exp: now + 600 },
    }),
  );
  const getStoredToken = async () => (await manager.getUser())?.access_token;
  return { client, manager, getStoredToken, steps: navigatorEvents, open, fetchedUrls };
}

/** Parameters of the authorization request that the popup was sent to. */
async function waitForRequest(popup: FakeWindow): Promise<URLSearchParams> {
  while (popup.location.replace.mock.calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 0));
  return new URL(popup.location.replace.mock.calls[0]?.[0] ?? "").searchParams;
}

/** Waits for the redirect under fake timers: the PKCE challenge is computed meanwhile. */
async function waitForRedirect(popup: FakeWindow): Promise<void> {
  while (popup.location.replace.mock.calls.length === 0) await jest.advanceTimersByTimeAsync(0);
}

/** As `silent-renew.html` does in a popup. */
function postFromPopup(
  query: Record<string, string>,
  { state = query["state"] ?? "", data = buildMessage(query) }: { state?: string; data?: unknown } = {},
): void {
  new FakeChannel(`sign-in:${state}`).postMessage(data);
}

/** As `silent-renew.html` does in a frame. */
function postFromFrame(frame: FakeWindow, query: Record<string, string>): void {
  window.dispatchEvent(
    new MessageEvent("message", {
      origin: window.location.origin,
      source: frame as unknown as Window,
      data: buildMessage(query),
    }),
  );
}

function buildMessage(query: Record<string, string>) {
  const url = `${window.location.origin}/silent-renew.html?${new URLSearchParams(query).toString()}`;
  return { source: "oidc-client", url, keepOpen: false };
}

/** Delivers within this page; jsdom has none. */
class FakeChannel extends EventTarget {
  static readonly #channels = new Set<FakeChannel>();
  onmessage: ((event: MessageEvent) => void) | null = null;
  readonly #name: string;

  constructor(name: string) {
    super();
    this.#name = name;
    FakeChannel.#channels.add(this);
  }

  postMessage(data: unknown): void {
    for (const channel of FakeChannel.#channels)
      if (channel !== this && channel.#name === this.#name) channel.onmessage?.(new MessageEvent("message", { data }));
  }

  close(): void {
    FakeChannel.#channels.delete(this);
  }
}

beforeEach(() => {
  sessionStorage.clear();
  globalThis.BroadcastChannel = FakeChannel as unknown as typeof BroadcastChannel;
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

describe("signInAgain", () => {
  it("opens a popup of 640 pixels within the click, requires a new sign-in, and returns the ID token's auth_time", async () => {
    const popup = createFakeWindow();
    const { client, manager, getStoredToken, steps, open, fetchedUrls } = await setUp(popup, { auth_time: now - 1 });
    const onUserLoaded = jest.fn();
    manager.events.addUserLoaded(onUserLoaded);
    const storageKeysBefore = Object.keys(sessionStorage);
    const signedIn = client.signInAgain("es");
    await new Promise(process.nextTick); // only session storage is read before
    expect(open).toHaveBeenCalledWith("", "_blank", expect.stringContaining("height=640"));
    const params = await waitForRequest(popup);
    expect(Object.fromEntries(params)).toMatchObject({
      prompt: "login",
      max_age: "0",
      display: "popup",
      ui_locales: "es",
      id_token_hint: createIdToken({}),
      redirect_uri: `${window.location.origin}/silent-renew.html`,
    });
    expect(Object.keys(sessionStorage)).toEqual(storageKeysBefore);
    expect(popup.opener).toBeNull();
    postFromPopup({ code: "c", state: params.get("state") ?? "" });
    expect((await signedIn).profile.auth_time).toBe(now - 1);
    expect(popup.closed).toBe(true);
    expect(steps).toEqual(["sign_in_again started", "sign_in_again ended"]);
    expect(fetchedUrls).toEqual([metadata.token_endpoint]); // not the user info endpoint, whose auth_time could differ
    expect(onUserLoaded).toHaveBeenCalledTimes(1);
    expect(await getStoredToken()).toBe("newer");
  });

  it("keeps the previous user when another person signs in", async () => {
    const popup = createFakeWindow();
    const { client, manager, getStoredToken } = await setUp(popup, { sub: "s-2", auth_time: now });
    const onUserLoaded = jest.fn();
    manager.events.addUserLoaded(onUserLoaded);
    const signedIn = client.signInAgain("en");
    postFromPopup({ code: "c", state: (await waitForRequest(popup)).get("state") ?? "" });
    await expect(signedIn).rejects.toMatchObject({ code: "login_required" });
    expect(await getStoredToken()).toBe("older");
    expect(onUserLoaded).not.toHaveBeenCalled();
  });

  it("signs no one in if the person has signed out meanwhile", async () => {
    const popup = createFakeWindow();
    const { client, manager, getStoredToken } = await setUp(popup);
    const signedIn = client.signInAgain("en");
    const state = (await waitForRequest(popup)).get("state") ?? "";
    await manager.removeUser();
    postFromPopup({ code: "c", state });
    await expect(signedIn).rejects.toMatchObject({ code: "login_required" });
    expect(await getStoredToken()).toBeUndefined();
  });

  it.each([
    ["of another sign-in", { state: "another" }],
    ["of another shape", { data: { url: 1 } }],
  ])("ignores a message %s", async (_name, changes) => {
    const popup = createFakeWindow();
    const { client, getStoredToken } = await setUp(popup);
    const signedIn = client.signInAgain("en");
    const state = (await waitForRequest(popup)).get("state") ?? "";
    postFromPopup({ error: "interaction_required", state }, changes);
    postFromPopup({ code: "c", state });
    await signedIn;
    expect(await getStoredToken()).toBe("newer");
  });

  it("rejects with the error of the token call, and closes the popup", async () => {
    const popup = createFakeWindow();
    const { client } = await setUp(popup);
    globalThis.fetch = () => Promise.reject(new TypeError("Failed to fetch"));
    const signedIn = client.signInAgain("en");
    postFromPopup({ code: "c", state: (await waitForRequest(popup)).get("state") ?? "" });
    await expect(signedIn).rejects.toBeInstanceOf(TypeError);
    expect(popup.closed).toBe(true);
  });

  it("rejects with the provider's error", async () => {
    const popup = createFakeWindow();
    const { client } = await setUp(popup);
    const signedIn = client.signInAgain("en");
    postFromPopup({ error: "interaction_required", state: (await waitForRequest(popup)).get("state") ?? "" });
    await expect(signedIn).rejects.toMatchObject({ error: "interaction_required" });
  });

  it("rejects with popup_blocked when the browser opens no popup", async () => {
    const { client, steps, fetchedUrls } = await setUp(null);
    await expect(client.signInAgain("en")).rejects.toMatchObject({ code: "popup_blocked" });
    expect(steps.at(-1)).toBe("sign_in_again ended");
    expect(fetchedUrls).toEqual([]);
  });

  it("is cancelled within 500 ms after the person closed the popup", async () => {
    const popup = createFakeWindow();
    const { client } = await setUp(popup);
    jest.useFakeTimers({ doNotFake: ["performance"] });
    const signedIn = client.signInAgain("en");
    const outcome = expect(signedIn).rejects.toMatchObject({ code: "cancelled" });
    await waitForRedirect(popup);
    await jest.advanceTimersByTimeAsync(10_000);
    popup.closed = true;
    await jest.advanceTimersByTimeAsync(500);
    await outcome;
  });

  it("rejects with timed_out, and closes the popup, after five minutes without a response", async () => {
    const popup = createFakeWindow();
    const { client } = await setUp(popup);
    jest.useFakeTimers({ doNotFake: ["performance"] });
    const outcome = expect(client.signInAgain("en")).rejects.toMatchObject({ code: "timed_out" });
    await waitForRedirect(popup);
    await jest.advanceTimersByTimeAsync(popupSettings.timeLimitMs - 1);
    expect(popup.closed).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    await outcome;
    expect(popup.closed).toBe(true);
  });

  it("opens no popup when no one is signed in", async () => {
    const { client, manager, open } = await setUp(createFakeWindow());
    await manager.removeUser();
    await expect(client.signInAgain("en")).rejects.toMatchObject({ code: "login_required" });
    expect(open).not.toHaveBeenCalled();
  });
});

describe("openSignIn", () => {
  const address = "https://id.example/auth?state=of-the-vault";
  const vaultOrigin = "https://vault.example";

  it("opens the vault's address in a popup without an opener, and suggests the person", async () => {
    const popup = createFakeWindow();
    const { client, steps } = await setUp(popup);
    const answered = client.openSignIn(address, "es", vaultOrigin);
    expect(Object.fromEntries(await waitForRequest(popup))).toEqual({
      state: "of-the-vault",
      id_token_hint: createIdToken({}),
      ui_locales: "es",
    });
    expect(popup.opener).toBeNull();
    const send = (origin: string, source: unknown, answer: string): void => {
      const event = new MessageEvent("message", { data: { relicario: "signed-in", answer }, origin });
      Object.defineProperty(event, "source", { value: source });
      window.dispatchEvent(event);
    };
    send("https://else.example", popup, "of another origin");
    send(vaultOrigin, window, "of another window");
    send(vaultOrigin, popup, "state=of-the-vault&code=c");
    popup.closed = true; // it closes itself
    expect(await answered).toBe("state=of-the-vault&code=c");
    expect(steps).toEqual(["sign_in_again started", "sign_in_again ended"]);
  });

  it("rejects with popup_blocked, or with cancelled when the person closed the popup", async () => {
    const blocked = await setUp(null);
    await expect(blocked.client.openSignIn(address, "en", vaultOrigin)).rejects.toMatchObject({
      code: "popup_blocked",
    });
    const popup = createFakeWindow();
    const { client } = await setUp(popup);
    jest.useFakeTimers({ doNotFake: ["performance"] });
    const outcome = expect(client.openSignIn(address, "en", vaultOrigin)).rejects.toMatchObject({ code: "cancelled" });
    await waitForRedirect(popup);
    popup.closed = true;
    await jest.advanceTimersByTimeAsync(1_000);
    await outcome;
  });

  it("opens only an address of the web", async () => {
    const popup = createFakeWindow();
    const { client } = await setUp(popup);
    await expect(client.openSignIn("javascript:alert(1)", "en", vaultOrigin)).rejects.toThrow("Invalid");
    expect(popup.closed).toBe(true);
  });
});

describe("signInSilently", () => {
  const findFrames = () => document.querySelectorAll("iframe");

  it("rejects after 10 s when its frame gets no response, and removes the frame", async () => {
    const { client, steps } = await setUp(null);
    const frameWindow = createFakeWindow(); // never loads
    jest.spyOn(HTMLIFrameElement.prototype, "contentWindow", "get").mockReturnValue(frameWindow as unknown as Window);
    jest.useFakeTimers({ doNotFake: ["performance"] });
    const outcome = expect(client.signInSilently()).rejects.toBeInstanceOf(ErrorTimeout);
    await waitForRedirect(frameWindow);
    await jest.advanceTimersByTimeAsync(9_999);
    expect(findFrames()).toHaveLength(1);
    expect(steps).toEqual(["renewal started"]);
    await jest.advanceTimersByTimeAsync(1);
    await outcome;
    findFrames().forEach((frame) => frame.dispatchEvent(new Event("load"))); // the blank page that the library navigates it to
    expect(findFrames()).toHaveLength(0);
    expect(steps.at(-1)).toBe("renewal ended");
  });

  it("rejects after 10 s when its frame was removed from the page", async () => {
    const { client, steps, getStoredToken } = await setUp(null);
    const frameWindow = createFakeWindow();
    jest.spyOn(HTMLIFrameElement.prototype, "contentWindow", "get").mockReturnValue(frameWindow as unknown as Window);
    jest.useFakeTimers({ doNotFake: ["performance"] });
    const outcome = expect(client.signInSilently()).rejects.toBeInstanceOf(ErrorTimeout);
    await waitForRedirect(frameWindow);
    findFrames().forEach((frame) => frame.remove());
    await jest.advanceTimersByTimeAsync(10_000);
    await outcome;
    expect(steps.at(-1)).toBe("renewal ended");
    expect(await getStoredToken()).toBe("older");
  });

  it("rejects at once when the frame has no window", async () => {
    const { client, steps, getStoredToken } = await setUp(null);
    jest.spyOn(HTMLIFrameElement.prototype, "contentWindow", "get").mockReturnValue(null);
    await expect(client.signInSilently()).rejects.toThrow("disposed window");
    expect(steps.at(-1)).toBe("renewal ended");
    expect(await getStoredToken()).toBe("older");
    findFrames().forEach((frame) => frame.remove());
  });

  it("drops a refresh token that the provider issues, and renews in the frame every time", async () => {
    const { client, getStoredToken, fetchedUrls } = await setUp(
      null,
      { auth_time: now },
      { refresh_token: "planted-refresh-token" },
    );
    for (const round of [1, 2]) {
      const frameWindow = createFakeWindow();
      jest.spyOn(HTMLIFrameElement.prototype, "contentWindow", "get").mockReturnValue(frameWindow as unknown as Window);
      const renewal = client.signInSilently();
      const params = await waitForRequest(frameWindow);
      expect(params.get("prompt")).toBe("none");
      postFromFrame(frameWindow, { code: "c", state: params.get("state") ?? "" });
      await renewal;
      expect(fetchedUrls.filter((url) => url === metadata.token_endpoint)).toHaveLength(round);
      expect(await getStoredToken()).toBe("newer");
      expect(JSON.stringify(Object.entries(sessionStorage))).not.toContain("refresh_token");
    }
  });

  it("rejects with login_required for another subject, and keeps the user", async () => {
    const { client, getStoredToken } = await setUp(null, { sub: "s-2" });
    const frameWindow = createFakeWindow();
    jest.spyOn(HTMLIFrameElement.prototype, "contentWindow", "get").mockReturnValue(frameWindow as unknown as Window);
    const renewal = client.signInSilently();
    postFromFrame(frameWindow, { code: "c", state: (await waitForRequest(frameWindow)).get("state") ?? "" });
    await expect(renewal).rejects.toMatchObject({ error: "login_required" });
    expect(await getStoredToken()).toBe("older");
  });

  it("rejects when the provider is unreachable", async () => {
    const { client, manager } = await setUp(null);
    jest.spyOn(manager.metadataService, "getAuthorizationEndpoint").mockRejectedValue(new TypeError("Failed to fetch"));
    await expect(client.signInSilently()).rejects.toBeInstanceOf(TypeError);
  });

  it("shares one renewal between concurrent calls, and reports its start and end", async () => {
    const { client, steps } = await setUp(null);
    const silent = jest.spyOn(UserManager.prototype, "signinSilent").mockResolvedValue(null);
    await Promise.all([client.signInSilently(), client.signInSilently()]);
    expect(silent).toHaveBeenCalledTimes(1);
    expect(steps).toEqual(["renewal started", "renewal ended"]);
    await client.signInSilently();
    expect(silent).toHaveBeenCalledTimes(2);
  });
});

it("a sign-in without a response is cleared 15 minutes after its start, but not earlier", async () => {
  const { manager } = await setUp(null);
  const storeSignIn = (id: string, secondsAgo: number) => {
    sessionStorage.setItem(
      `oidc.${id}`,
      JSON.stringify({
        id,
        created: now - secondsAgo,
        request_type: "si:r",
        authority: identity.authority,
        client_id: identity.client_id,
        redirect_uri: "/",
        scope: "openid",
      }),
    );
  };
  jest.spyOn(Date, "now").mockReturnValue(now * 1000);
  storeSignIn("stale", 15 * 60);
  storeSignIn("fresh", 15 * 60 - 1);
  await manager.clearStaleState();
  expect(["stale", "fresh"].filter((id) => sessionStorage.getItem(`oidc.${id}`) !== null)).toEqual(["fresh"]);
});
