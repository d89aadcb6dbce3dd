import type { Deployment, DeviceAccount, HttpClient } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { ErrorResponse, ErrorTimeout } from "oidc-client-ts";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { z } from "zod";

import type { Person } from "../device/accounts.ts";
import type { SweepKind } from "../device/sweeps.ts";
import { authRetryKey } from "./sign-in-flow.ts";
import { createSession } from "./session.ts";

/** The sign-in client, without a provider: what tests drive and look at. */
const mockClient = {
  getUser: () => Promise.resolve<unknown>(null),
  callback: () => Promise.resolve<unknown>(undefined),
  silent: () => Promise.resolve<unknown>(null),
  popup: () => Promise.resolve<unknown>(null),
  handlers: {} as Record<string, (value: unknown) => void>,
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
        ["addUserLoaded", "addUserUnloaded", "addUserSignedOut"].map((name) => [
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
  function SessionMonitor() {
    void recordCall("monitor");
  }
  return { ...jest.requireActual<object>("oidc-client-ts"), UserManager, SessionMonitor };
});

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
  const replaced: [unknown, string][] = [];
  const location = {
    href: `${origin}${address}`,
    origin,
    pathname: new URL(address, origin).pathname,
    replace: jest.fn(),
    reload: jest.fn(),
  };
  const history = {
    state: historyState,
    replaceState: (state: unknown, _title: string, url: string) => void replaced.push([state, url]),
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
  const begunSweeps: SweepKind[] = [];
  const finishedSweeps: [SweepKind, Person | null][] = [];
  const begin = (kind: SweepKind, person: Person | null) => {
    begunSweeps.push(kind);
    return () => Promise.resolve(void finishedSweeps.push([kind, person]));
  };
  const sweeps = {
    begin,
    finishMarked: () => Promise.resolve(),
    cancelMarked: jest.fn(),
    dropLinkSecret: jest.fn(() => Promise.resolve()),
  };
  const requirePinnedUserId = jest.fn((_account: DeviceAccount, _userId: string, _isStaying: () => boolean) =>
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
    begun: begunSweeps,
    swept: finishedSweeps,
    sweeps,
    requirePinnedUserId,
    replaced,
    location,
    channel,
    clearCaches,
    log,
    locks,
    comeBack: restorePage,
    sendFromOtherTab: (data: unknown) => listeners.forEach((listener) => listener({ data })),
  };
}

/** This tab remembers somebody, whose access token lives for 240 s more. */
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
  it("is authenticated by a remembered user, and counts no errors then", async () => {
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
    ["nobody", () => Promise.resolve(null)],
    ["a user that is expired", () => Promise.resolve({ ...user, expired: true })],
    ["something that is no user", () => Promise.resolve({})],
    ["something that cannot be read", () => Promise.reject(new SyntaxError("Unexpected token in 'access'"))],
  ])("is unauthenticated when it remembers %s, and does not say what it is", async (_name, getUser) => {
    mockClient.getUser = getUser;
    const { session, log } = setUp();
    await session.start();
    expect(session.getState()).toEqual({ status: "unauthenticated" });
    expect(JSON.stringify(log.mock.calls)).not.toContain("access");
  });

  it("forgets at the start which sign-ins were begun long ago and never answered", () => {
    setUp();
    expect(findCalls("clearStaleState")).toHaveLength(1);
  });

  it("signs in, exchanges tokens and calls where the deployment says, as the client that it names", async () => {
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
      expect(findCalls("settings")).toHaveLength(2); // of the page, and of the window beside it
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

  it("looks after the provider's session from the start", () => {
    setUp();
    expect(Object.keys(mockClient.handlers)).toContain("addUserSignedOut");
  });

  it("stops, aloud and for good, when the service says that the person is another account than this device knows", async () => {
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
    expect(onExchange).toHaveBeenCalledTimes(1); // asking again with the same access token cannot help
  });

  describe("given a service that is down for all but tokens", () => {
    afterEach(() => {
      jest.useRealTimers();
    });

    /** Somebody who holds a session token. */
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
      return { session, others: onOtherCall, token };
    };

    it("ends the product's session with the token that it held, and asks the provider to revoke the access token, as somebody signs out", async () => {
      const { session, others, token } = await startSignedIn();
      await session.signOut();
      expect(others).toHaveBeenCalledTimes(1);
      const [address, init] = others.mock.lastCall ?? [];
      expect([init?.method, address]).toEqual(["DELETE", `${origin}/api/auth/token`]);
      expect(new Headers(init?.headers).get("authorization")).toBe(`Bearer ${token}`);
      expect(findCalls("revokeTokens")).toEqual([["access_token"]]);
      expect(session.exchange.getState()).toEqual({ status: "empty", error: null });
      expect(sessionStorage.getItem("sessionToken")).toBeNull();
    });

    it("makes each call once, and repeats reads only for who has no query cache", async () => {
      const { session, others } = await startSignedIn();
      const countCalls = async (http: HttpClient) => {
        others.mockClear();
        const outcome = expect(http.request("GET", "/user/me", z.unknown())).rejects.toMatchObject({
          code: "service_unavailable",
        });
        await jest.advanceTimersByTimeAsync(10_000);
        await outcome;
        return others.mock.calls.length;
      };
      expect([await countCalls(session.http), await countCalls(session.publicHttp)]).toEqual([1, 1]);
      expect([await countCalls(session.retrying.http), await countCalls(session.retrying.publicHttp)]).toEqual([4, 4]);
      session.exchange.clear();
    });
  });

  it("takes the provider's answer, cleans the address and goes back to where the person was", async () => {
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

  it("counts no errors any more once somebody has signed in", async () => {
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

  it("knows ahead which path will be shown: of the address, or of the sign-in that has just been answered", async () => {
    expect(setUp("/secrets?tag=a").session.getExpectedPath()).toBe("/secrets");
    expect(setUp("/?code=c&state=s1").session.getExpectedPath()).toBe("/home");
    await setUp().session.signIn("/edit-secret/1?x=1#y");
    const returned = setUp("/?code=c&state=s1");
    expect(returned.session.getExpectedPath()).toBe("/edit-secret/1");
    await returned.session.start();
    expect(setUp("/#error=x&state=s1").session.getExpectedPath()).toBe("/home");
  });

  it("watches the provider's session from one check's time after it began", async () => {
    jest.useFakeTimers();
    try {
      rememberUser();
      const { session } = setUp();
      await session.start();
      jest.advanceTimersByTime(1_999);
      expect(findCalls("monitor")).toHaveLength(0);
      jest.advanceTimersByTime(1);
      expect(findCalls("monitor")).toHaveLength(1);
    } finally {
      jest.useRealTimers();
    }
  });

  it("says what the provider refused, with a clean address; the second time it starts bare without a user", async () => {
    mockClient.callback = () => Promise.reject(new ErrorResponse({ error: "consent_required" }));
    const first = setUp("/?error=consent_required&state=s");
    await first.session.start();
    expect(first.session.getState()).toMatchObject({ status: "error", code: "consent_required" });
    expect(first.replaced).toEqual([[null, "/"]]);

    const second = setUp("/?error=consent_required&state=s#x");
    await second.session.start();
    await flush();
    expect(findCalls("removeUser")).toHaveLength(1);
    expect(second.location.replace).toHaveBeenCalledWith("/");
    expect(sessionStorage.getItem(authRetryKey)).toBe("0");
  });

  it("signs in at the provider, in the person's language, and comes back", async () => {
    const { session } = setUp();
    await session.start();
    await session.signIn("/add-secret");
    expect(findCalls("signinRedirect")).toEqual([{ state: { returnTo: "/add-secret" }, ui_locales: "es" }]);
    expect(session.getState()).toMatchObject({ status: "loading", navigator: "sign_in" });
    await session.signIn("/add-secret");
    expect(findCalls("signinRedirect")).toHaveLength(1);
  });

  it("signs out: keys away, tokens revoked, caches cleared, other tabs told, provider's session ended", async () => {
    rememberUser();
    const { session, clearCaches, channel, swept } = setUp();
    await session.start();
    const reasons: string[] = [];
    session.onLock((reason) => void reasons.push(reason));
    await session.signOut();
    expect(reasons).toEqual(["sign_out"]);
    expect(findCalls("revokeTokens")).toEqual([["access_token"]]);
    expect(clearCaches).toHaveBeenCalledTimes(1);
    expect(channel.postMessage).toHaveBeenCalledWith({ what: "sign_out", person: albaPerson });
    expect(swept).toEqual([["sign_out", alba]]);
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
      "another tab that has this device forgotten",
      "forget",
      (harness: ReturnType<typeof setUp>) => harness.sendFromOtherTab({ what: "forget", person: albaPerson }),
    ],
    ["a sign-out at the provider", "sign_out", () => mockClient.handlers["addUserSignedOut"]?.(undefined)],
  ] as const)(
    "leaves nothing on page and device after %s, and does not sign in again by itself",
    async (_name, kind, signOutElsewhere) => {
      rememberUser();
      const harness = setUp();
      await harness.session.start();
      signOutElsewhere(harness);
      await flush();
      expect(harness.clearCaches).toHaveBeenCalledTimes(1);
      expect(harness.swept).toEqual([[kind, alba]]);
      expect(findCalls("removeUser")).toHaveLength(1);
      expect(harness.replaced.at(-1)).toEqual([{ signedOut: true }, "/"]);
      expect(harness.location.reload).toHaveBeenCalledTimes(1);

      const next = setUp("/", { signedOut: true });
      await next.session.start();
      expect(next.session.hasEndedElsewhere()).toBe(true);
      expect(next.session.getState()).toEqual({ status: "unauthenticated" });
    },
  );

  it.each(["sign_out", "forget"] as const)(
    "is left alone when another person ends a session beside in another tab (%s)",
    async (what) => {
      rememberUser();
      const harness = setUp();
      await harness.session.start();
      sessionStorage.setItem("recoverId", "x");
      harness.sendFromOtherTab({ what, person: { ...albaPerson, subject: "s-2" } });
      harness.sendFromOtherTab({ what, person: { ...albaPerson, issuer: "https://another.example" } });
      await flush();
      expect(harness.swept).toEqual([]);
      expect(harness.session.getState()).toEqual({ status: "authenticated", user: alba });
      expect(sessionStorage.getItem("recoverId")).toBe("x");
      expect(harness.location.reload).not.toHaveBeenCalled();
      harness.session.exchange.clear();
    },
  );

  it("keeps what its link named, and its place, when another tab signs out and nobody is signed in here", async () => {
    const harness = setUp("/p-shared/abc");
    await harness.session.start();
    sessionStorage.setItem("recoverId", "x");
    harness.sendFromOtherTab({ what: "sign_out", person: albaPerson });
    await flush();
    expect(harness.begun).toEqual([]);
    expect(sessionStorage.getItem("recoverId")).toBe("x");
    expect(harness.replaced).toEqual([]);
    expect(harness.location.reload).not.toHaveBeenCalled();
  });

  it("is ended by another tab though it was still finding out who is signed in", async () => {
    rememberUser();
    const harness = setUp();
    harness.sendFromOtherTab({ what: "sign_out", person: albaPerson });
    await harness.session.start();
    await flush();
    expect(harness.swept).toEqual([["sign_out", alba]]);
    expect(harness.location.reload).toHaveBeenCalledTimes(1);
  });

  it.each([
    ["the same person", albaPerson, 1],
    ["another person", { ...albaPerson, subject: "s-2" }, 0],
  ])(
    "drops what a link carried when %s locks in another tab, with or without a vault here",
    async (_who, person, times) => {
      rememberUser();
      const harness = setUp();
      await harness.session.start();
      harness.sendFromOtherTab({ what: "lock", person });
      await flush();
      expect(harness.sweeps.dropLinkSecret).toHaveBeenCalledTimes(times);
      expect(harness.session.getState().status).toBe("authenticated");
      expect(harness.channel.postMessage).not.toHaveBeenCalled();
      harness.session.exchange.clear();
    },
  );

  it("tells the other tabs of a lock", async () => {
    rememberUser();
    const { session, channel, swept } = setUp();
    await session.start();
    await session.lock();
    expect(channel.postMessage).toHaveBeenCalledWith({ what: "lock", person: albaPerson });
    expect(swept).toEqual([["lock", null]]);
    session.exchange.clear();
  });

  it.each(["signed_out", null, { what: "forget" }, { what: "wipe", person: albaPerson }])(
    "takes no notice of %j from another tab",
    async (data) => {
      rememberUser();
      const harness = setUp();
      await harness.session.start();
      harness.sendFromOtherTab(data);
      await flush();
      expect(harness.begun).toEqual([]);
      harness.session.exchange.clear();
    },
  );

  describe("signInAgain", () => {
    const createFreshUser = (authTime: number | undefined) => ({
      ...user,
      access_token: "newer",
      profile: { ...profile, iat: 1_000, auth_time: authTime },
    });

    it("gives the ID token's auth_time, and exchanges the newer access token", async () => {
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
      const signedInAgain = session.signInAgain();
      expect(session.getState()).toMatchObject({ status: "loading", navigator: "sign_in_again", user: alba });
      await expect(signedInAgain).resolves.toEqual({ authTime: 999 });
      expect(session.getState()).toEqual({ status: "authenticated", user: { ...alba, authTime: 999 } });
      expect(sentBodies.at(-1)).toBe(JSON.stringify({ token: "newer" }));
      session.exchange.clear();
    });

    it.each([
      ["is from before the call", 990],
      ["is missing", undefined],
    ])("is login_required when auth_time %s", async (_name, authTime) => {
      rememberUser();
      mockClient.popup = () => Promise.resolve(createFreshUser(authTime));
      const { session } = setUp();
      await session.start();
      await expect(session.signInAgain()).rejects.toMatchObject({ code: "login_required" });
      session.exchange.clear();
    });
  });

  it("goes nowhere, and leaves nothing, when another tab signs out at the same moment", async () => {
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

  it("has this device forgotten in every tab, and signs out", async () => {
    rememberUser();
    const { session, channel, swept } = setUp();
    await session.start();
    await session.forgetDevice();
    expect(channel.postMessage).toHaveBeenCalledWith({ what: "forget", person: albaPerson });
    expect(swept).toEqual([["forget", alba]]);
    expect(findCalls("signoutRedirect")).toHaveLength(1);
  });

  it("marks what it is to lose before it tells the other tabs", async () => {
    rememberUser();
    const { session, channel, begun } = setUp();
    await session.start();
    channel.postMessage.mockImplementation(() => {
      expect(begun).toEqual(["sign_out"]);
    });
    await session.signOut();
    expect(channel.postMessage).toHaveBeenCalledTimes(1);
  });

  describe("given an exchange that the service answers late", () => {
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
      let answer: () => void = () => undefined;
      const lateResponse = new Promise<Response>((resolve) => {
        answer = () => {
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
      return { ...harness, answer };
    };

    it("remembers no account id for somebody who has begun to sign out", async () => {
      const { session, swept, requirePinnedUserId, sweeps, answer } = await startExchanging();
      const signingOut = session.signOut();
      while (swept.length === 0) await flush();
      answer();
      await signingOut;
      for (let round = 0; round < 20; round++) await flush(); // its token is verified meanwhile
      expect(requirePinnedUserId).not.toHaveBeenCalled();
      expect(sweeps.cancelMarked).not.toHaveBeenCalled();
    });

    it("admits who stays, and a sweep of theirs that did not end is over", async () => {
      const { session, requirePinnedUserId, sweeps, answer } = await startExchanging();
      answer();
      await session.exchange.getToken();
      const [[, pinned, isStaying] = []] = requirePinnedUserId.mock.calls;
      expect(pinned).toBe(sub);
      expect(sweeps.cancelMarked).toHaveBeenCalledWith(alba);
      expect(isStaying?.()).toBe(true);
      const signingOut = session.signOut();
      expect(isStaying?.()).toBe(false);
      await signingOut;
    });
  });

  it("signs out once, however often it is asked", async () => {
    rememberUser();
    const { session } = setUp();
    await session.start();
    await Promise.all([session.signOut(), session.signOut()]);
    expect(findCalls("signoutRedirect")).toHaveLength(1);
  });

  it("starts anew when the browser brings back a page that was on its way to the provider", async () => {
    const { session, comeBack, location } = setUp();
    await session.start();
    comeBack();
    expect(location.reload).not.toHaveBeenCalled();
    await session.signIn("/home");
    comeBack();
    expect(location.reload).toHaveBeenCalledTimes(1);
  });

  describe("silent renewal", () => {
    /**
     * A person who is signed in, and what a renewal that begins 60 s before the end comes back
     * with.
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

    it("begins 60 s before the access token expires, and goes on with the newer one", async () => {
      const newer = { ...user, access_token: "newer", expires_in: 300 };
      const { session } = await startWithRenewal(() => {
        expect(session.getState()).toMatchObject({ status: "loading", navigator: "renewal", user: alba });
        mockClient.handlers["addUserLoaded"]?.(newer);
        return Promise.resolve(newer);
      });
      expect(session.getState()).toEqual({ status: "authenticated", user: alba });
      await jest.advanceTimersByTimeAsync(240_000);
      expect(findCalls("signinSilent")).toHaveLength(2);
      session.exchange.clear();
    });

    it("asks to sign in again when it is refused, and keeps who was signed in", async () => {
      const { session, log } = await startWithRenewal(() =>
        Promise.reject(new ErrorResponse({ error: "login_required" })),
      );
      expect(session.getState()).toEqual({ status: "error", code: "login_required", user: alba });
      expect(log).toHaveBeenCalledWith("silent_renewal", "login_required");
      session.exchange.clear();
    });

    it("takes no screen away while the provider is out of reach, and tries again after 5 s", async () => {
      const { session, log } = await startWithRenewal(() => Promise.reject(new TypeError("Failed to fetch")));
      expect(session.getState().status).toBe("authenticated");
      expect(log).toHaveBeenCalledWith("silent_renewal", "login_failed");
      await jest.advanceTimersByTimeAsync(5_000);
      expect(findCalls("signinSilent")).toHaveLength(2);
      session.exchange.clear();
    });

    it("tries again 5 s after its frame timed out, and says nothing", async () => {
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
