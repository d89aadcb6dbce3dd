import { pageStorage, type Deployment, type DeviceAccount, type HttpClient } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { ErrorResponse, ErrorTimeout } from "oidc-client-ts";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { z } from "zod";

import type { Person } from "../device/accounts.ts";
import type { SweepKind } from "../device/sweeps.ts";
import { authRetryKey } from "./sign-in-flow.ts";
import type { SessionMonitorDeps } from "./session-monitor.ts";
import { createSession } from "./session.ts";

/** Fake of the sign-in client. Records its calls. */
const mockClient = {
  getUser: () => Promise.resolve<unknown>(null),
  callback: () => Promise.resolve<unknown>(undefined),
  silent: () => Promise.resolve<unknown>(null),
  popup: () => Promise.resolve<unknown>(null),
  handlers: {} as Record<string, (value: unknown) => void>,
  signOutAtProvider: (): void => undefined,
  calls: [] as [string, unknown][],
};

jest.mock("oidc-client-ts", () => {
  const recordCall = (name: string, value?: unknown) => {
    mockClient.calls.push([name, value]);
    return Promise.resolve();
  };
  class UserManager {
    readonly #isPopup: boolean;
    constructor(settings: unknown, _redirects: unknown, windows: unknown) {
      this.#isPopup = windows !== undefined;
      void recordCall("settings", settings);
    }
    readonly events = {
      ...Object.fromEntries(
        ["addUserLoaded", "addUserUnloaded"].map((name) => [
          name,
          (handler: (value: unknown) => void) => {
            mockClient.handlers[name] = handler;
          },
        ]),
      ),
      load: (value: unknown) => mockClient.handlers["addUserLoaded"]?.(value),
    };
    getUser = () => mockClient.getUser();
    clearStaleState = () => recordCall("clearStaleState");
    removeUser = () => {
      if (this.#isPopup) return Promise.resolve();
      mockClient.getUser = () => Promise.resolve(null);
      return recordCall("removeUser");
    };
    revokeTokens = (types: unknown) => recordCall("revokeTokens", types);
    signinRedirect = (value: unknown) => recordCall("signinRedirect", value);
    signoutRedirect = (value: unknown) => recordCall("signoutRedirect", value);
    signinCallback = (url: unknown) => {
      void recordCall("signinCallback", url);
      return mockClient.callback();
    };
    signinSilent = () => {
      void recordCall("signinSilent");
      return mockClient.silent();
    };
    signinPopup = (request: unknown) => {
      void recordCall("signinPopup", request);
      return mockClient.popup();
    };
    storeUser = () => Promise.resolve();
  }
  return { ...jest.requireActual<object>("oidc-client-ts"), UserManager };
});
jest.mock("./session-monitor.ts", () => ({
  startSessionMonitor: ({ onSignedOut }: SessionMonitorDeps) => {
    mockClient.signOutAtProvider = onSignedOut;
  },
}));

const origin = "http://localhost:3000";
const deployment = {
  vendor_id: "relicario",
  identity: { authority: "http://localhost:3001/realms/relicario", client_id: "relicario-portal", scope: "openid" },
  api: { base_url: `${origin}/api`, credentials: false },
} as Deployment;
const profile = {
  iss: "http://localhost:3001/realms/relicario",
  sub: "s-1",
  aud: "x",
  exp: 1,
  iat: 1,
  preferred_username: "alba",
};
const user = {
  access_token: "access",
  id_token: "id",
  expired: false,
  expires_in: 240,
  profile,
  state: { returnTo: "/secrets?tag=a" },
};
const albaPerson = { issuer: profile.iss, subject: "s-1" };
const alba = { issuer: profile.iss, subject: "s-1", name: "alba" };

function setUp(address = "/home", historyState: unknown = null, deploymentUnderTest: Deployment = deployment) {
  const replacedEntries: [unknown, string][] = [];
  const location = {
    href: `${origin}${address}`,
    origin,
    pathname: new URL(address, origin).pathname,
    replace: jest.fn(),
    reload: jest.fn(),
  };
  const history = {
    state: historyState,
    replaceState: (state: unknown, _title: string, url: string) => void replacedEntries.push([state, url]),
  };
  const listeners: ((event: { data: unknown }) => void)[] = [];
  const pageshowListeners: ((event: { persisted: boolean }) => void)[] = [];
  const addEventListener = (_type: "pageshow", listener: (event: { persisted: boolean }) => void) =>
    void pageshowListeners.push(listener);
  const locks = {
    request: jest.fn((_name: string, _options: object, callback: (lock: object | null) => unknown) =>
      Promise.resolve(callback({})),
    ),
  };
  const channel = {
    postMessage: jest.fn(),
    addEventListener: (_type: string, listener: (event: { data: unknown }) => void) => void listeners.push(listener),
  };
  const clearCaches = jest.fn();
  const log = jest.fn();
  const preparedSweeps: SweepKind[] = [];
  const finishedSweeps: [SweepKind, Person | null][] = [];
  const prepare = (kind: SweepKind, person: Person | null) => {
    preparedSweeps.push(kind);
    return () => Promise.resolve(void finishedSweeps.push([kind, person]));
  };
  const sweeps = {
    prepare,
    finishMarked: () => Promise.resolve(),
    cancelMarked: jest.fn(),
    dropLinkSecret: jest.fn(() => Promise.resolve()),
  };
  const requirePinnedUserId = jest.fn((_account: DeviceAccount, _userId: string, _isSessionActive: () => boolean) =>
    Promise.resolve(),
  );
  const session = createSession({
    deployment: deploymentUnderTest,
    window: { sessionStorage, location, history, addEventListener, navigator: { locks } } as unknown as Window,
    getLanguage: () => "es",
    clearCaches,
    onVendorIgnored: jest.fn(),
    log,
    channel: channel as unknown as BroadcastChannel,
    sweeps,
    requirePinnedUserId,
  });
  const restorePage = () => pageshowListeners.forEach((listener) => listener({ persisted: true }));
  return {
    session,
    preparedSweeps,
    finishedSweeps,
    sweeps,
    requirePinnedUserId,
    replaced: replacedEntries,
    location,
    channel,
    clearCaches,
    log,
    locks,
    restorePage,
    sendFromOtherTab: (data: unknown) => listeners.forEach((listener) => listener({ data })),
  };
}

/** Stores a user whose access token lives for 240 s more. */
function rememberUser(): void {
  mockClient.getUser = () => Promise.resolve(user);
}

const flush = () => new Promise((resolve) => setTimeout(resolve, 0));
const findCalls = (name: string) =>
  mockClient.calls.filter(([callName]) => callName === name).map(([, value]) => value);

beforeEach(() => {
  sessionStorage.clear();
  mockClient.getUser = () => Promise.resolve(null);
  mockClient.callback = () => Promise.resolve(undefined);
  mockClient.silent = () => Promise.resolve(null);
  mockClient.popup = () => Promise.resolve(null);
  mockClient.handlers = {};
  mockClient.calls = [];
  globalThis.fetch = jest.fn(() => Promise.reject(new TypeError("no network in tests")));
});

describe("createSession", () => {
  it("is authenticated by a stored user, and resets the error counter", async () => {
    rememberUser();
    sessionStorage.setItem(authRetryKey, "1");
    const { session } = setUp();
    await session.start();
    expect(session.getState()).toEqual({ status: "authenticated", user: alba });
    expect(session.exchange.getState().status).toBe("exchanging");
    expect(sessionStorage.getItem(authRetryKey)).toBe("0");
    session.exchange.clear();
  });

  it.each<[string, () => Promise<unknown>]>([
    ["no user", () => Promise.resolve(null)],
    ["an expired user", () => Promise.resolve({ ...user, expired: true })],
    ["a value of another shape", () => Promise.resolve({})],
    ["an unreadable value", () => Promise.reject(new SyntaxError("Unexpected token in 'access'"))],
  ])("is unauthenticated when storage has %s, which is not logged", async (_name, getUser) => {
    mockClient.getUser = getUser;
    const { session, log } = setUp();
    await session.start();
    expect(session.getState()).toEqual({ status: "unauthenticated" });
    expect(JSON.stringify(log.mock.calls)).not.toContain("access");
  });

  it("fails with storage_refused where the browser refuses storage, and stays on the page", async () => {
    jest.spyOn(pageStorage, "isSessionRefused").mockReturnValue(true);
    const { session } = setUp();
    await session.start();
    for (let attempts = 0; attempts < 3; attempts++) {
      await session.signIn("/home");
      expect(session.getState()).toEqual({ status: "error", code: "storage_refused", user: null });
    }
    expect(findCalls("signinRedirect")).toEqual([]);
    expect(findCalls("removeUser")).toEqual([]);
    jest.restoreAllMocks();
  });

  it("clears stale sign-ins when it is created", () => {
    setUp();
    expect(findCalls("clearStaleState")).toHaveLength(1);
  });

  it("signs in, exchanges tokens and makes calls at the addresses in the deployment document", async () => {
    jest.useFakeTimers();
    try {
      const fetchedUrls: string[] = [];
      globalThis.fetch = (input) => {
        fetchedUrls.push(input instanceof Request ? input.url : String(input));
        return Promise.reject(new TypeError("no network in tests"));
      };
      rememberUser();
      const identity = {
        authority: "https://id.acme.example/realms/acme",
        client_id: "acme-portal",
        scope: "openid email",
      };
      const { session } = setUp("/home", null, {
        ...deployment,
        identity,
        api: { base_url: "https://api.acme.example/v1", credentials: true },
      });
      expect(findCalls("settings")).toHaveLength(2); // for the page, and for the popup
      for (const settings of findCalls("settings")) expect(settings).toMatchObject(identity);
      await session.start();
      await jest.advanceTimersByTimeAsync(100);
      await expect(session.publicHttp.request("GET", "/readyz", z.unknown())).rejects.toMatchObject({
        code: "service_unavailable",
      });
      expect(fetchedUrls).toEqual([
        "https://api.acme.example/v1/auth/token?app_vendor_id=relicario",
        "https://api.acme.example/v1/readyz",
      ]);
      session.exchange.clear();
    } finally {
      jest.useRealTimers();
    }
  });

  it("rejects a token for an account id other than the pinned one, without a retry", async () => {
    rememberUser();
    const { publicKey, privateKey } = await generateKeyPair("EdDSA", { extractable: true });
    const iat = Math.floor(Date.now() / 1000);
    const sub = "01890a5d-ac96-7000-8000-000000000002";
    const token = await new SignJWT({
      sub,
      iss: `${origin}/api`,
      aud: "relicario-portal",
      vid: "relicario",
      sid: "s",
      iat,
      exp: iat + 900,
    })
      .setProtectedHeader({ alg: "EdDSA", kid: "k" })
      .sign(privateKey);
    const certs = { keys: [{ kid: "k", alg: "EdDSA", kty: "OKP", crv: "Ed25519", x: (await exportJWK(publicKey)).x }] };
    const onExchange = jest.fn();
    globalThis.fetch = (input) => {
      const address = input instanceof Request ? input.url : String(input);
      if (address.endsWith("/auth/token-certs")) return Promise.resolve(Response.json(certs));
      onExchange(address);
      return Promise.resolve(Response.json({ token }));
    };
    const harness = setUp();
    harness.requirePinnedUserId.mockRejectedValue(new PortalError("account_changed"));
    await harness.session.start();
    await expect(harness.session.exchange.getToken()).rejects.toMatchObject({ code: "account_changed" });
    expect(harness.requirePinnedUserId).toHaveBeenCalledWith(
      { vendorId: "relicario", issuer: profile.iss, subject: "s-1" },
      sub,
      expect.any(Function),
    );
    expect(harness.sweeps.cancelMarked).not.toHaveBeenCalled();
    expect(harness.session.exchange.getState()).toMatchObject({ status: "empty", error: { code: "account_changed" } });
    expect(sessionStorage.getItem("sessionToken")).toBeNull();
    expect(onExchange).toHaveBeenCalledTimes(1); // a retry with the same access token cannot help
  });

  describe("given a service that responds only to token calls", () => {
    afterEach(() => {
      jest.useRealTimers();
    });

    /** Starts a session that has a session token. */
    const startSignedIn = async () => {
      const { publicKey, privateKey } = await generateKeyPair("EdDSA", { extractable: true });
      const iat = Math.floor(Date.now() / 1000);
      const claims = {
        sub: "01890a5d-ac96-7000-8000-000000000001",
        iss: `${origin}/api`,
        aud: "relicario-portal",
        vid: "relicario",
        sid: "s",
        iat,
        exp: iat + 900,
      };
      const token = await new SignJWT(claims).setProtectedHeader({ alg: "EdDSA", kid: "k" }).sign(privateKey);
      const certs = {
        keys: [{ kid: "k", alg: "EdDSA", kty: "OKP", crv: "Ed25519", x: (await exportJWK(publicKey)).x }],
      };
      const onOtherCall = jest.fn((_address: string, _init?: RequestInit) => new Response(null, { status: 503 }));
      globalThis.fetch = (input, init) => {
        const address = input instanceof Request ? input.url : String(input);
        if (address.endsWith("/auth/token-certs")) return Promise.resolve(Response.json(certs));
        return Promise.resolve(
          address.includes("/auth/token?") ? Response.json({ token }) : onOtherCall(address, init),
        );
      };
      jest.useFakeTimers();
      rememberUser();
      const { session } = setUp();
      await session.start();
      while (session.exchange.getState().status !== "ready") await jest.advanceTimersByTimeAsync(10);
      return { session, onOtherCall, token };
    };

    it("ends the product session at sign-out, and asks the provider to revoke the access token", async () => {
      const { session, onOtherCall, token } = await startSignedIn();
      await session.signOut();
      expect(onOtherCall).toHaveBeenCalledTimes(1);
      const [address, init] = onOtherCall.mock.lastCall ?? [];
      expect([init?.method, address]).toEqual(["DELETE", `${origin}/api/auth/token`]);
      expect(new Headers(init?.headers).get("authorization")).toBe(`Bearer ${token}`);
      expect(findCalls("revokeTokens")).toEqual([["access_token"]]);
      expect(session.exchange.getState()).toEqual({ status: "empty", error: null });
      expect(sessionStorage.getItem("sessionToken")).toBeNull();
    });

    it("retries failed reads only in the clients for callers without a query cache", async () => {
      const { session, onOtherCall } = await startSignedIn();
      const countCalls = async (http: HttpClient) => {
        onOtherCall.mockClear();
        const outcome = expect(http.request("GET", "/user/me", z.unknown())).rejects.toMatchObject({
          code: "service_unavailable",
        });
        await jest.advanceTimersByTimeAsync(10_000);
        await outcome;
        return onOtherCall.mock.calls.length;
      };
      expect([await countCalls(session.http), await countCalls(session.publicHttp)]).toEqual([1, 1]);
      expect([
        await countCalls(session.retryingClients.http),
        await countCalls(session.retryingClients.publicHttp),
      ]).toEqual([4, 4]);
      session.exchange.clear();
    });
  });

  it("handles the provider's response, cleans the address and returns to the previous page", async () => {
    mockClient.callback = () => {
      mockClient.handlers["addUserLoaded"]?.(user);
      return Promise.resolve(user);
    };
    const { session, replaced } = setUp("/?code=c&state=s");
    await session.start();
    expect(findCalls("signinCallback")).toEqual([`${origin}/?code=c&state=s`]);
    expect(replaced).toEqual([[null, "/secrets?tag=a"]]);
    expect(session.getState()).toEqual({ status: "authenticated", user: alba });
    session.exchange.clear();
  });

  it("resets the error counter after a sign-in", async () => {
    sessionStorage.setItem(authRetryKey, "1");
    mockClient.callback = () => {
      mockClient.handlers["addUserLoaded"]?.(user);
      return Promise.resolve(user);
    };
    const { session } = setUp("/?code=c&state=s");
    await session.start();
    expect(sessionStorage.getItem(authRetryKey)).toBe("0");
    session.exchange.clear();
  });

  it("expects the path in the address, or the return path of a sign-in in progress", async () => {
    expect(setUp("/secrets?tag=a").session.getExpectedPath()).toBe("/secrets");
    expect(setUp("/?code=c&state=s1").session.getExpectedPath()).toBe("/home");
    await setUp().session.signIn("/edit-secret/1?x=1#y");
    const returnedPage = setUp("/?code=c&state=s1");
    expect(returnedPage.session.getExpectedPath()).toBe("/edit-secret/1");
    await returnedPage.session.start();
    expect(setUp("/#error=x&state=s1").session.getExpectedPath()).toBe("/home");
  });

  it("reports the provider's first error on a clean address, and reloads without a user after the second", async () => {
    mockClient.callback = () => Promise.reject(new ErrorResponse({ error: "consent_required" }));
    const firstPage = setUp("/?error=consent_required&state=s");
    await firstPage.session.start();
    expect(firstPage.session.getState()).toMatchObject({ status: "error", code: "consent_required" });
    expect(firstPage.replaced).toEqual([[null, "/"]]);

    const secondPage = setUp("/?error=consent_required&state=s#x");
    await secondPage.session.start();
    await flush();
    expect(findCalls("removeUser")).toHaveLength(1);
    expect(secondPage.location.replace).toHaveBeenCalledWith("/");
    expect(sessionStorage.getItem(authRetryKey)).toBe("0");
  });

  it("redirects to the provider in the person's language, with the path to return to", async () => {
    const { session } = setUp();
    await session.start();
    await session.signIn("/add-secret");
    expect(findCalls("signinRedirect")).toEqual([{ state: { returnTo: "/add-secret" }, ui_locales: "es" }]);
    expect(session.getState()).toMatchObject({ status: "loading", navigator: "sign_in" });
    await session.signIn("/add-secret");
    expect(findCalls("signinRedirect")).toHaveLength(1);
  });

  it("signs out: releases keys, revokes tokens, clears caches, notifies other tabs, ends the provider's session", async () => {
    rememberUser();
    const { session, clearCaches, channel, finishedSweeps } = setUp();
    await session.start();
    const reasons: string[] = [];
    session.onLock((reason) => void reasons.push(reason));
    await session.signOut();
    expect(reasons).toEqual(["sign_out"]);
    expect(findCalls("revokeTokens")).toEqual([["access_token"]]);
    expect(clearCaches).toHaveBeenCalledTimes(1);
    expect(channel.postMessage).toHaveBeenCalledWith({ what: "sign_out", person: albaPerson });
    expect(finishedSweeps).toEqual([["sign_out", alba]]);
    expect(findCalls("signoutRedirect")).toEqual([{ extraQueryParams: { ui_locales: "es" } }]);
    expect(session.exchange.getState()).toEqual({ status: "empty", error: null });
  });

  it.each([
    [
      "a sign-out in another tab",
      "sign_out",
      (harness: ReturnType<typeof setUp>) => harness.sendFromOtherTab({ what: "sign_out", person: albaPerson }),
    ],
    [
      "forgetting this device in another tab",
      "forget",
      (harness: ReturnType<typeof setUp>) => harness.sendFromOtherTab({ what: "forget", person: albaPerson }),
    ],
    ["a sign-out at the provider", "sign_out", () => mockClient.signOutAtProvider()],
  ] as const)(
    "removes the data on page and device after %s, and does not sign in again automatically",
    async (_name, kind, signOutElsewhere) => {
      rememberUser();
      const harness = setUp();
      await harness.session.start();
      signOutElsewhere(harness);
      await flush();
      expect(harness.clearCaches).toHaveBeenCalledTimes(1);
      expect(harness.finishedSweeps).toEqual([[kind, alba]]);
      expect(findCalls("removeUser")).toHaveLength(1);
      expect(harness.replaced.at(-1)).toEqual([{ signedOut: true }, "/"]);
      expect(harness.location.reload).toHaveBeenCalledTimes(1);

      const reloadedPage = setUp("/", { signedOut: true });
      await reloadedPage.session.start();
      expect(reloadedPage.session.hasEndedElsewhere()).toBe(true);
      expect(reloadedPage.session.getState()).toEqual({ status: "unauthenticated" });
    },
  );

  it.each(["sign_out", "forget"] as const)(
    "ignores another person's session that ends in another tab (%s)",
    async (what) => {
      rememberUser();
      const harness = setUp();
      await harness.session.start();
      sessionStorage.setItem("recoverId", "x");
      harness.sendFromOtherTab({ what, person: { ...albaPerson, subject: "s-2" } });
      harness.sendFromOtherTab({ what, person: { ...albaPerson, issuer: "https://another.example" } });
      await flush();
      expect(harness.finishedSweeps).toEqual([]);
      expect(harness.session.getState()).toEqual({ status: "authenticated", user: alba });
      expect(sessionStorage.getItem("recoverId")).toBe("x");
      expect(harness.location.reload).not.toHaveBeenCalled();
      harness.session.exchange.clear();
    },
  );

  it("keeps the page and a link's parameters when another tab signs out and no one is signed in", async () => {
    const harness = setUp("/p-shared/abc");
    await harness.session.start();
    sessionStorage.setItem("recoverId", "x");
    harness.sendFromOtherTab({ what: "sign_out", person: albaPerson });
    await flush();
    expect(harness.preparedSweeps).toEqual([]);
    expect(sessionStorage.getItem("recoverId")).toBe("x");
    expect(harness.replaced).toEqual([]);
    expect(harness.location.reload).not.toHaveBeenCalled();
  });

  it("is ended by another tab even while it restores its user", async () => {
    rememberUser();
    const harness = setUp();
    harness.sendFromOtherTab({ what: "sign_out", person: albaPerson });
    await harness.session.start();
    await flush();
    expect(harness.finishedSweeps).toEqual([["sign_out", alba]]);
    expect(harness.location.reload).toHaveBeenCalledTimes(1);
  });

  it.each([
    ["the same person", albaPerson, 1],
    ["another person", { ...albaPerson, subject: "s-2" }, 0],
  ])("deletes the link secret only when the same person locks in another tab (%s)", async (_who, person, times) => {
    rememberUser();
    const harness = setUp();
    await harness.session.start();
    harness.sendFromOtherTab({ what: "lock", person });
    await flush();
    expect(harness.sweeps.dropLinkSecret).toHaveBeenCalledTimes(times);
    expect(harness.session.getState().status).toBe("authenticated");
    expect(harness.channel.postMessage).not.toHaveBeenCalled();
    harness.session.exchange.clear();
  });

  it("notifies the other tabs of a lock", async () => {
    rememberUser();
    const { session, channel, finishedSweeps } = setUp();
    await session.start();
    await session.lock();
    expect(channel.postMessage).toHaveBeenCalledWith({ what: "lock", person: albaPerson });
    expect(finishedSweeps).toEqual([["lock", null]]);
    session.exchange.clear();
  });

  it.each(["signed_out", null, { what: "forget" }, { what: "wipe", person: albaPerson }])(
    "ignores %j from another tab",
    async (data) => {
      rememberUser();
      const harness = setUp();
      await harness.session.start();
      harness.sendFromOtherTab(data);
      await flush();
      expect(harness.preparedSweeps).toEqual([]);
      harness.session.exchange.clear();
    },
  );

  describe("signInAgain", () => {
    const createFreshUser = (authTime: number | undefined) => ({
      ...user,
      access_token: "newer",
      profile: { ...profile, iat: 1_000, auth_time: authTime },
    });

    it("returns the ID token's auth_time, and exchanges the new access token", async () => {
      rememberUser();
      const sentBodies: unknown[] = [];
      globalThis.fetch = jest.fn((_input, init) => {
        sentBodies.push(init?.body);
        return Promise.resolve(
          Response.json({ title: "Forbidden", status: 403, code: "vendor_disabled" }, { status: 403 }),
        );
      });
      const { session } = setUp();
      await session.start();
      mockClient.popup = () => Promise.resolve(createFreshUser(999));
      const signingInAgain = session.signInAgain();
      expect(session.getState()).toMatchObject({ status: "loading", navigator: "sign_in_again", user: alba });
      await expect(signingInAgain).resolves.toEqual({ authTime: 999 });
      expect(session.getState()).toEqual({ status: "authenticated", user: { ...alba, authTime: 999 } });
      expect(sentBodies.at(-1)).toBe(JSON.stringify({ token: "newer" }));
      session.exchange.clear();
    });

    it.each([
      ["is earlier than the call", 990],
      ["is missing", undefined],
    ])("rejects with login_required when auth_time %s", async (_name, authTime) => {
      rememberUser();
      mockClient.popup = () => Promise.resolve(createFreshUser(authTime));
      const { session } = setUp();
      await session.start();
      await expect(session.signInAgain()).rejects.toMatchObject({ code: "login_required" });
      session.exchange.clear();
    });
  });

  it("clears all data without a redirect when another tab signs out at the same time", async () => {
    rememberUser();
    const { session, locks, location, clearCaches } = setUp();
    locks.request.mockImplementation((_name, _options, work) => Promise.resolve(work(null)));
    await session.start();
    sessionStorage.setItem("recoverId", "x");
    await session.signOut();
    expect(findCalls("signoutRedirect")).toHaveLength(0);
    expect(findCalls("removeUser")).toHaveLength(1);
    expect(clearCaches).toHaveBeenCalledTimes(1);
    expect(sessionStorage.getItem("recoverId")).toBeNull();
    expect(location.reload).toHaveBeenCalledTimes(1);
  });

  it("forgets this device in every tab, and signs out", async () => {
    rememberUser();
    const { session, channel, finishedSweeps } = setUp();
    await session.start();
    await session.forgetDevice();
    expect(channel.postMessage).toHaveBeenCalledWith({ what: "forget", person: albaPerson });
    expect(finishedSweeps).toEqual([["forget", alba]]);
    expect(findCalls("signoutRedirect")).toHaveLength(1);
  });

  it("marks the sweep before it notifies the other tabs", async () => {
    rememberUser();
    const { session, channel, preparedSweeps } = setUp();
    await session.start();
    channel.postMessage.mockImplementation(() => {
      expect(preparedSweeps).toEqual(["sign_out"]);
    });
    await session.signOut();
    expect(channel.postMessage).toHaveBeenCalledTimes(1);
  });

  describe("given a late response to the exchange", () => {
    const sub = "01890a5d-ac96-7000-8000-000000000002";

    const startExchanging = async () => {
      rememberUser();
      const { publicKey, privateKey } = await generateKeyPair("EdDSA", { extractable: true });
      const iat = Math.floor(Date.now() / 1000);
      const token = await new SignJWT({
        sub,
        iss: `${origin}/api`,
        aud: "relicario-portal",
        vid: "relicario",
        sid: "s",
        iat,
        exp: iat + 900,
      })
        .setProtectedHeader({ alg: "EdDSA", kid: "k" })
        .sign(privateKey);
      const certs = {
        keys: [{ kid: "k", alg: "EdDSA", kty: "OKP", crv: "Ed25519", x: (await exportJWK(publicKey)).x }],
      };
      let sendResponse: () => void = () => undefined;
      const lateResponse = new Promise<Response>((resolve) => {
        sendResponse = () => {
          resolve(Response.json({ token }));
        };
      });
      const onExchange = jest.fn();
      globalThis.fetch = (input) => {
        const address = input instanceof Request ? input.url : String(input);
        if (address.endsWith("/auth/token-certs")) return Promise.resolve(Response.json(certs));
        onExchange();
        return lateResponse;
      };
      const harness = setUp();
      await harness.session.start();
      while (onExchange.mock.calls.length === 0) await flush();
      return { ...harness, sendResponse };
    };

    it("pins no account id once a sign-out has begun", async () => {
      const { session, finishedSweeps, requirePinnedUserId, sweeps, sendResponse } = await startExchanging();
      const signingOut = session.signOut();
      while (finishedSweeps.length === 0) await flush();
      sendResponse();
      await signingOut;
      for (let round = 0; round < 20; round++) await flush(); // its token would be verified meanwhile
      expect(requirePinnedUserId).not.toHaveBeenCalled();
      expect(sweeps.cancelMarked).not.toHaveBeenCalled();
    });

    it("pins the account id while signed in, and cancels the person's unfinished sweeps", async () => {
      const { session, requirePinnedUserId, sweeps, sendResponse } = await startExchanging();
      sendResponse();
      await session.exchange.getToken();
      const [[, pinnedUserId, isSessionActive] = []] = requirePinnedUserId.mock.calls;
      expect(pinnedUserId).toBe(sub);
      expect(sweeps.cancelMarked).toHaveBeenCalledWith(alba);
      expect(isSessionActive?.()).toBe(true);
      const signingOut = session.signOut();
      expect(isSessionActive?.()).toBe(false);
      await signingOut;
    });
  });

  it("signs out once, however often it is called", async () => {
    rememberUser();
    const { session } = setUp();
    await session.start();
    await Promise.all([session.signOut(), session.signOut()]);
    expect(findCalls("signoutRedirect")).toHaveLength(1);
  });

  it("reloads a page restored from the back/forward cache while it left for the provider", async () => {
    const { session, restorePage, location } = setUp();
    await session.start();
    restorePage();
    expect(location.reload).not.toHaveBeenCalled();
    await session.signIn("/home");
    restorePage();
    expect(location.reload).toHaveBeenCalledTimes(1);
  });

  describe("silent renewal", () => {
    /**
     * Signs in and advances to the renewal, 60 s before the token expires, which has this outcome.
     */
    const startWithRenewal = async (outcome: () => Promise<unknown>) => {
      jest.useFakeTimers();
      rememberUser();
      mockClient.silent = outcome;
      const harness = setUp();
      await harness.session.start();
      await jest.advanceTimersByTimeAsync(179_999);
      expect(findCalls("signinSilent")).toHaveLength(0);
      await jest.advanceTimersByTimeAsync(1);
      expect(findCalls("signinSilent")).toHaveLength(1);
      return harness;
    };
    afterEach(() => {
      jest.useRealTimers();
    });

    it("starts 60 s before the access token expires, and continues with the new one", async () => {
      const renewedUser = { ...user, access_token: "newer", expires_in: 300 };
      const { session } = await startWithRenewal(() => {
        expect(session.getState()).toMatchObject({ status: "loading", navigator: "renewal", user: alba });
        mockClient.handlers["addUserLoaded"]?.(renewedUser);
        return Promise.resolve(renewedUser);
      });
      expect(session.getState()).toEqual({ status: "authenticated", user: alba });
      await jest.advanceTimersByTimeAsync(240_000);
      expect(findCalls("signinSilent")).toHaveLength(2);
      session.exchange.clear();
    });

    it("asks to sign in again when it is refused, and keeps the user", async () => {
      const { session, log } = await startWithRenewal(() =>
        Promise.reject(new ErrorResponse({ error: "login_required" })),
      );
      expect(session.getState()).toEqual({ status: "error", code: "login_required", user: alba });
      expect(log).toHaveBeenCalledWith("silent_renewal", "login_required");
      session.exchange.clear();
    });

    it("keeps the page when the provider ended its session after a time-out, which a renewal noticed", async () => {
      const { session, clearCaches, location } = await startWithRenewal(() =>
        Promise.reject(new ErrorResponse({ error: "login_required" })),
      );
      mockClient.signOutAtProvider(); // the provider's frame notices it too
      await jest.advanceTimersByTimeAsync(0);
      expect(session.getState()).toEqual({ status: "error", code: "login_required", user: alba });
      expect(clearCaches).not.toHaveBeenCalled();
      expect(location.reload).not.toHaveBeenCalled();
      session.exchange.clear();
    });

    it("tells the other tabs, which keep their pages too", async () => {
      const { session, channel, sendFromOtherTab, clearCaches, location } = await startWithRenewal(() =>
        Promise.reject(new ErrorResponse({ error: "login_required" })),
      );
      const message = { what: "sign_in_required", person: albaPerson };
      expect(channel.postMessage).toHaveBeenCalledWith(message);
      mockClient.handlers["addUserLoaded"]?.(user); // signed in again
      expect(session.getState().status).toBe("authenticated");
      sendFromOtherTab(message);
      await jest.advanceTimersByTimeAsync(0);
      mockClient.signOutAtProvider();
      await jest.advanceTimersByTimeAsync(0);
      expect(session.getState()).toEqual({ status: "error", code: "login_required", user: alba });
      expect([clearCaches.mock.calls.length, location.reload.mock.calls.length]).toEqual([0, 0]);
      session.exchange.clear();
    });

    it("keeps the screen while the provider is unreachable, and tries again after 5 s", async () => {
      const { session, log } = await startWithRenewal(() => Promise.reject(new TypeError("Failed to fetch")));
      expect(session.getState().status).toBe("authenticated");
      expect(log).toHaveBeenCalledWith("silent_renewal", "login_failed");
      await jest.advanceTimersByTimeAsync(5_000);
      expect(findCalls("signinSilent")).toHaveLength(2);
      session.exchange.clear();
    });

    it("tries again 5 s after its frame timed out, without a log entry", async () => {
      const { session, log } = await startWithRenewal(() =>
        Promise.reject(new ErrorTimeout("IFrame timed out without a response")),
      );
      expect(session.getState().status).toBe("authenticated");
      await jest.advanceTimersByTimeAsync(5_000);
      expect(findCalls("signinSilent")).toHaveLength(2);
      expect(log).not.toHaveBeenCalledWith("silent_renewal", expect.anything());
      session.exchange.clear();
    });
  });
});
