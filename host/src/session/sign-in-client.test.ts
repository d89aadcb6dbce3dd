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

/** The window that a browser opens; null where it opens none. */
interface FakeWindow {
  closed: boolean;
  readonly location: { replace: jest.Mock<void, [string]> };
  readonly focus: () => void;
  readonly close: () => void;
}

function createFakeWindow(): FakeWindow {
  const popup: FakeWindow = {
    closed: false,
    location: { replace: jest.fn() },
    focus: () => undefined,
    close: () => {
      popup.closed = true;
    },
  };
  return popup;
}

/**
 * The real library, with a signed-in person, in front of a provider that redeems any code for this
 * ID token.
 */
async function setUp(
  popup: FakeWindow | null,
  claims: { readonly sub?: string; readonly auth_time?: number } = { auth_time: now },
) {
  const open = jest.fn(() => popup);
  window.open = open as unknown as typeof window.open;
  const fetchedUrls: string[] = [];
  globalThis.fetch = (input) => {
    const address = input instanceof Request ? input.url : String(input);
    fetchedUrls.push(address);
    if (address === metadata.userinfo_endpoint) return Promise.resolve(Response.json({ sub: claims.sub ?? "s-1" }));
    return Promise.resolve(
      Response.json({ access_token: "newer", id_token: createIdToken(claims), token_type: "Bearer", expires_in: 300 }),
    );
  };
  const steps: string[] = [];
  const client = createSignInClient(
    { ...createSignInSettings(identity, window.location.origin, sessionStorage), metadata },
    {
      onStart: (navigator) => steps.push(`${navigator} started`),
      onEnd: (navigator) => steps.push(`${navigator} ended`),
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
  return { client, manager, kept: getStoredToken, steps, open, fetched: fetchedUrls };
}

/** What the provider is asked, once the window was sent there. */
async function waitForRequest(popup: FakeWindow): Promise<URLSearchParams> {
  while (popup.location.replace.mock.calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 0));
  return new URL(popup.location.replace.mock.calls[0]?.[0] ?? "").searchParams;
}

/** The same by a clock that stands still: its challenge is being made meanwhile. */
async function waitForRedirect(popup: FakeWindow): Promise<void> {
  while (popup.location.replace.mock.calls.length === 0) await jest.advanceTimersByTimeAsync(0);
}

function answer(popup: FakeWindow, query: Record<string, string>, changes: Partial<MessageEventInit> = {}): void {
  const url = `${window.location.origin}/silent-renew.html?${new URLSearchParams(query).toString()}`;
  window.dispatchEvent(
    new MessageEvent("message", {
      origin: window.location.origin,
      source: popup as unknown as Window,
      data: { source: "oidc-client", url, keepOpen: false },
      ...changes,
    }),
  );
}

/** The library opens one for windows that were cut off; jsdom has none. */
class SilentChannel extends EventTarget {
  readonly close = () => undefined;
}

beforeEach(() => {
  sessionStorage.clear();
  globalThis.BroadcastChannel = SilentChannel as unknown as typeof BroadcastChannel;
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

describe("signInAgain", () => {
  it("opens a window of 640 pixels in the click, asks for a sign-in whatever session there is, and gives the ID token's auth_time", async () => {
    const popup = createFakeWindow();
    const { client, manager, kept, steps, open, fetched } = await setUp(popup, { auth_time: now - 1 });
    const onUserLoaded = jest.fn();
    manager.events.addUserLoaded(onUserLoaded);
    const before = Object.keys(sessionStorage);
    const signedIn = client.signInAgain("es");
    await new Promise(process.nextTick); // what is read before is there at once
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
    expect(Object.keys(sessionStorage)).toEqual(before);
    answer(popup, { code: "c", state: params.get("state") ?? "" });
    expect((await signedIn).profile.auth_time).toBe(now - 1);
    expect(popup.closed).toBe(true);
    expect(steps).toEqual(["sign_in_again started", "sign_in_again ended"]);
    expect(fetched).toEqual([metadata.token_endpoint]); // user info could say another auth_time
    expect(onUserLoaded).toHaveBeenCalledTimes(1);
    expect(await kept()).toBe("newer");
  });

  it("keeps who was signed in when somebody else signs in", async () => {
    const popup = createFakeWindow();
    const { client, manager, kept } = await setUp(popup, { sub: "s-2", auth_time: now });
    const onUserLoaded = jest.fn();
    manager.events.addUserLoaded(onUserLoaded);
    const signedIn = client.signInAgain("en");
    answer(popup, { code: "c", state: (await waitForRequest(popup)).get("state") ?? "" });
    await expect(signedIn).rejects.toMatchObject({ code: "login_required" });
    expect(await kept()).toBe("older");
    expect(onUserLoaded).not.toHaveBeenCalled();
  });

  it("brings nobody back who signed out meanwhile", async () => {
    const popup = createFakeWindow();
    const { client, manager, kept } = await setUp(popup);
    const signedIn = client.signInAgain("en");
    const state = (await waitForRequest(popup)).get("state") ?? "";
    await manager.removeUser();
    answer(popup, { code: "c", state });
    await expect(signedIn).rejects.toMatchObject({ code: "login_required" });
    expect(await kept()).toBeUndefined();
  });

  it.each<[string, (popup: FakeWindow) => Partial<MessageEventInit>]>([
    ["of another window", () => ({ source: createFakeWindow() as unknown as Window })],
    ["of another origin", () => ({ origin: "https://elsewhere.example" })],
    ["that is no answer", () => ({ data: { url: 1 } })],
  ])("takes no message %s for the answer", async (_name, changed) => {
    const popup = createFakeWindow();
    const { client, kept } = await setUp(popup);
    const signedIn = client.signInAgain("en");
    const state = (await waitForRequest(popup)).get("state") ?? "";
    answer(popup, { error: "interaction_required", state }, changed(popup));
    answer(popup, { code: "c", state });
    await signedIn;
    expect(await kept()).toBe("newer");
  });

  it("says why the code could not be redeemed, although its window is closed by then", async () => {
    const popup = createFakeWindow();
    const { client } = await setUp(popup);
    globalThis.fetch = () => Promise.reject(new TypeError("Failed to fetch"));
    const signedIn = client.signInAgain("en");
    answer(popup, { code: "c", state: (await waitForRequest(popup)).get("state") ?? "" });
    await expect(signedIn).rejects.toBeInstanceOf(TypeError);
    expect(popup.closed).toBe(true);
  });

  it("says what the provider refuses", async () => {
    const popup = createFakeWindow();
    const { client } = await setUp(popup);
    const signedIn = client.signInAgain("en");
    answer(popup, { error: "interaction_required", state: (await waitForRequest(popup)).get("state") ?? "" });
    await expect(signedIn).rejects.toMatchObject({ error: "interaction_required" });
  });

  it("is popup_blocked when the browser opens no window", async () => {
    const { client, steps, fetched } = await setUp(null);
    await expect(client.signInAgain("en")).rejects.toMatchObject({ code: "popup_blocked" });
    expect(steps.at(-1)).toBe("sign_in_again ended");
    expect(fetched).toEqual([]);
  });

  it("is cancelled within 500 ms after the person closed the window", async () => {
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

  it("is timed_out, and closes the window, when nobody answers for five minutes", async () => {
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

  it("asks nobody when nobody is signed in", async () => {
    const { client, manager, open } = await setUp(createFakeWindow());
    await manager.removeUser();
    await expect(client.signInAgain("en")).rejects.toMatchObject({ code: "login_required" });
    expect(open).not.toHaveBeenCalled();
  });
});

describe("renew", () => {
  const findFrames = () => document.querySelectorAll("iframe");

  it("aborts after 10 s when its frame gets no answer, and takes the frame away", async () => {
    const { client, steps } = await setUp(null);
    const frameWindow = createFakeWindow(); // goes nowhere
    jest.spyOn(HTMLIFrameElement.prototype, "contentWindow", "get").mockReturnValue(frameWindow as unknown as Window);
    jest.useFakeTimers({ doNotFake: ["performance"] });
    const outcome = expect(client.renew()).rejects.toBeInstanceOf(ErrorTimeout);
    await waitForRedirect(frameWindow);
    await jest.advanceTimersByTimeAsync(9_999);
    expect(findFrames()).toHaveLength(1);
    expect(steps).toEqual(["renewal started"]);
    await jest.advanceTimersByTimeAsync(1);
    await outcome;
    findFrames().forEach((frame) => frame.dispatchEvent(new Event("load"))); // the empty page that it was sent to
    expect(findFrames()).toHaveLength(0);
    expect(steps.at(-1)).toBe("renewal ended");
  });

  it("aborts after 10 s, too, when its frame is taken out of the page meanwhile", async () => {
    const { client, steps, kept } = await setUp(null);
    const frameWindow = createFakeWindow();
    jest.spyOn(HTMLIFrameElement.prototype, "contentWindow", "get").mockReturnValue(frameWindow as unknown as Window);
    jest.useFakeTimers({ doNotFake: ["performance"] });
    const outcome = expect(client.renew()).rejects.toBeInstanceOf(ErrorTimeout);
    await waitForRedirect(frameWindow);
    findFrames().forEach((frame) => frame.remove());
    await jest.advanceTimersByTimeAsync(10_000);
    await outcome;
    expect(steps.at(-1)).toBe("renewal ended");
    expect(await kept()).toBe("older");
  });

  it("aborts at once when the browser gives it no frame", async () => {
    const { client, steps, kept } = await setUp(null);
    jest.spyOn(HTMLIFrameElement.prototype, "contentWindow", "get").mockReturnValue(null);
    await expect(client.renew()).rejects.toThrow("disposed window");
    expect(steps.at(-1)).toBe("renewal ended");
    expect(await kept()).toBe("older");
    findFrames().forEach((frame) => frame.remove());
  });

  it("is login_required when the provider answers for another subject, and keeps who was signed in", async () => {
    const { client, kept } = await setUp(null, { sub: "s-2" });
    const frameWindow = createFakeWindow();
    jest.spyOn(HTMLIFrameElement.prototype, "contentWindow", "get").mockReturnValue(frameWindow as unknown as Window);
    const renewal = client.renew();
    answer(frameWindow, { code: "c", state: (await waitForRequest(frameWindow)).get("state") ?? "" });
    await expect(renewal).rejects.toMatchObject({ error: "login_required" });
    expect(await kept()).toBe("older");
  });

  it("aborts when the provider cannot be asked at all", async () => {
    const { client, manager } = await setUp(null);
    jest.spyOn(manager.metadataService, "getAuthorizationEndpoint").mockRejectedValue(new TypeError("Failed to fetch"));
    await expect(client.renew()).rejects.toBeInstanceOf(TypeError);
  });

  it("makes one renewal for all who ask meanwhile, and tells when it begins and ends", async () => {
    const { client, steps } = await setUp(null);
    const silent = jest.spyOn(UserManager.prototype, "signinSilent").mockResolvedValue(null);
    await Promise.all([client.renew(), client.renew()]);
    expect(silent).toHaveBeenCalledTimes(1);
    expect(steps).toEqual(["renewal started", "renewal ended"]);
    await client.renew();
    expect(silent).toHaveBeenCalledTimes(2);
  });
});

it("a sign-in that was begun 15 minutes ago and never answered is forgotten, a later one is not", async () => {
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
