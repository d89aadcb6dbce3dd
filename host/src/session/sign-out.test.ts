import { User, UserManager } from "oidc-client-ts";

import { createLockListeners, lockLimitMs } from "./lock-listeners.ts";
import { createSignInSettings } from "./oidc-settings.ts";
import { isFirstToSignOut, signOut, type SignOutDeps } from "./sign-out.ts";

function setUp(overrides: Partial<SignOutDeps> = {}) {
  const steps: string[] = [];
  const createStep = (name: string) => () => {
    steps.push(name);
    return Promise.resolve();
  };
  const log = jest.fn();
  const deps: SignOutDeps = {
    lockAndWipe: createStep("lock and wipe"),
    endProductSession: createStep("product session"),
    revokeTokens: createStep("revocation"),
    clearCaches: () => void steps.push("caches"),
    redirect: createStep("redirect"),
    leaveWithoutProvider: createStep("leave"),
    log,
    ...overrides,
  };
  return { deps, steps, log };
}

/**
 * Sets up the real library with a signed-in person, and a provider that refuses a revocation with
 * this error.
 */
async function createRevocation(refusal: {
  readonly error: string;
  readonly error_description: string;
}): Promise<() => Promise<void>> {
  const authority = "http://localhost:3001/realms/relicario";
  const metadata = { issuer: authority, revocation_endpoint: `${authority}/token/revocation` };
  const client = new UserManager({
    authority,
    client_id: "relicario-portal",
    redirect_uri: "http://localhost:3000/",
    metadata,
    automaticSilentRenew: false,
  });
  await client.storeUser(
    new User({
      access_token: "a.b.c",
      token_type: "Bearer",
      profile: { iss: authority, aud: "relicario-portal", sub: "s-1", iat: 1, exp: 2 },
    }),
  );
  globalThis.fetch = jest.fn(() => Promise.resolve(Response.json(refusal, { status: 400 })));
  return () => client.revokeTokens(["access_token"]);
}

describe("signOut", () => {
  it("releases keys first, ends both sessions, clears caches, and goes to the provider", async () => {
    const { deps, steps, log } = setUp();
    await signOut(deps);
    expect(steps).toEqual(["lock and wipe", "product session", "revocation", "caches", "redirect"]);
    expect(log).not.toHaveBeenCalled();
  });

  it("treats a token type that cannot be revoked as done", async () => {
    const { deps, log } = setUp({
      revokeTokens: await createRevocation({ error: "unsupported_token_type", error_description: "not of this type" }),
    });
    await signOut(deps);
    expect(fetch).toHaveBeenCalledTimes(1);
    expect(log).not.toHaveBeenCalled();
  });

  it("removes the user from this tab before it goes to the provider", async () => {
    sessionStorage.clear();
    const authority = "http://localhost:3001/realms/relicario";
    const departures: { readonly url: string; readonly storedKeys: readonly string[] }[] = [];
    const departure = {
      navigate: ({ url }: { url: string }) =>
        Promise.resolve({ url: String(departures.push({ url, storedKeys: Object.keys(sessionStorage) })) }),
      close: () => undefined,
    };
    const settings = createSignInSettings(
      { authority, client_id: "relicario-portal", scope: "openid" },
      "http://localhost:3000",
      sessionStorage,
    );
    const manager = new UserManager(
      { ...settings, metadata: { issuer: authority, end_session_endpoint: `${authority}/session/end` } },
      { prepare: () => Promise.resolve(departure), callback: () => Promise.resolve() },
    );
    await manager.storeUser(
      new User({
        access_token: "a.b.c",
        id_token: "e.f.g",
        token_type: "Bearer",
        profile: { iss: authority, aud: "relicario-portal", sub: "s-1", iat: 1, exp: 2 },
      }),
    );
    const user = `oidc.user:${authority}:relicario-portal`;
    expect(Object.keys(sessionStorage)).toContain(user);
    const { deps } = setUp({ redirect: () => manager.signoutRedirect({ extraQueryParams: { ui_locales: "es" } }) });
    await signOut(deps);
    expect(departures).toEqual([
      {
        url: expect.stringContaining(`${authority}/session/end?id_token_hint=e.f.g`),
        storedKeys: expect.not.arrayContaining([user]),
      },
    ]);
  });

  it("logs an error of the provider with any description", async () => {
    const { deps, log } = setUp({
      revokeTokens: await createRevocation({ error: "invalid_client", error_description: "unsupported_token_type" }),
    });
    await signOut(deps);
    expect(log.mock.calls.map(([name]: string[]) => name)).toEqual(["revocation"]);
  });

  it("logs a failed step and continues", async () => {
    const rejectAsDown = () => Promise.reject(new Error("down"));
    const { deps, steps, log } = setUp({
      lockAndWipe: rejectAsDown,
      endProductSession: rejectAsDown,
      revokeTokens: rejectAsDown,
    });
    await signOut(deps);
    expect(steps).toEqual(["caches", "redirect"]);
    expect(log.mock.calls.map(([name]: string[]) => name)).toEqual(["lock_and_wipe", "product_session", "revocation"]);
  });

  it("removes the user here when the provider is unreachable", async () => {
    const { deps, steps } = setUp({ redirect: () => Promise.reject(new TypeError("Failed to fetch")) });
    await signOut(deps);
    expect(steps.at(-1)).toBe("leave");
  });

  it("does not wait forever for a step", async () => {
    jest.useFakeTimers();
    const { deps, steps } = setUp({ endProductSession: () => new Promise(() => undefined) });
    const signingOut = signOut(deps);
    await jest.advanceTimersByTimeAsync(60_000);
    await signingOut;
    jest.useRealTimers();
    expect(steps.at(-1)).toBe("redirect");
  });
});

describe("isFirstToSignOut", () => {
  /** Fakes locks that another tab holds, or that are free. */
  const createLocks = (isHeld: boolean) =>
    ({
      request: (_name: string, _options: LockOptions, callback: (lock: Lock | null) => unknown) =>
        Promise.resolve(callback(isHeld ? null : { name: "sign_out", mode: "exclusive" })),
    }) as unknown as LockManager;

  it.each([
    ["is true when no other tab signs out", createLocks(false), true],
    ["is false while another tab signs out", createLocks(true), false],
    ["is true when the browser has no locks", undefined, true],
    [
      "is true when the browser refuses locks",
      { request: () => Promise.reject(new Error("SecurityError")) } as unknown as LockManager,
      true,
    ],
  ])("%s", async (_name, locks, expected) => {
    await expect(isFirstToSignOut(locks)).resolves.toBe(expected);
  });
});

describe("createLockListeners", () => {
  it("waits for all listeners, even when one fails", async () => {
    const listeners = createLockListeners();
    const reasons: string[] = [];
    listeners.add(() => {
      throw new Error("broken");
    });
    listeners.add(async (reason) => {
      await Promise.resolve();
      reasons.push(reason);
    });
    await listeners.run("sign_out");
    expect(reasons).toEqual(["sign_out"]);
  });

  it("does not wait forever", async () => {
    jest.useFakeTimers();
    const listeners = createLockListeners();
    listeners.add(() => new Promise(() => undefined));
    const onDone = jest.fn();
    void listeners.run("lock").then(onDone);
    await jest.advanceTimersByTimeAsync(lockLimitMs - 1);
    expect(onDone).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(onDone).toHaveBeenCalled();
    jest.useRealTimers();
  });

  it("does not call a removed listener", async () => {
    const listeners = createLockListeners();
    const listener = jest.fn();
    listeners.add(listener)();
    await listeners.run("lock");
    expect(listener).not.toHaveBeenCalled();
  });
});
