import type { SessionClaims } from "@relicario/shared/api";
import { HttpError, PortalError } from "@relicario/shared/errors";

import { createTokenExchange, exchangeTimes, sessionTokenKey, type TokenExchange } from "./token-exchange.ts";

const lifetimeMs = 900_000;
const startMs = Date.parse("2026-11-21T10:00:00.000Z");

const createClaims = (issuedMs: number, vid = "relicario"): SessionClaims => ({
  sub: "01890a5d-ac96-7000-8000-000000000001",
  iss: "http://localhost:3000/api",
  aud: "relicario-portal",
  vid,
  sid: "s",
  iat: Math.floor(issuedMs / 1000),
  exp: Math.floor((issuedMs + lifetimeMs) / 1000),
});

/** A service that issues the tokens `t1`, `t2`, …, each valid for 15 minutes. */
function setUp(stored?: { token: string; claims: SessionClaims | null }) {
  const responses: (string | PortalError)[] = [];
  const issued = new Map<string, SessionClaims | null>(stored === undefined ? [] : [[stored.token, stored.claims]]);
  let issuedCount = 0;
  const requestToken = jest.fn((_accessToken: string) => {
    const response = responses.shift();
    if (response instanceof PortalError) return Promise.reject(response);
    const token = response ?? `t${String(++issuedCount)}`;
    if (!issued.has(token)) issued.set(token, createClaims(Date.now()));
    return Promise.resolve(token);
  });
  const storedItems = new Map<string, string>(stored === undefined ? [] : [[sessionTokenKey, stored.token]]);
  const vendor = { id: "relicario" };
  const tokens = createTokenExchange({
    requestToken,
    getVendorId: () => vendor.id,
    checkAccount: () => Promise.resolve(),
    verify: (token) => {
      const claims = issued.get(token) ?? null;
      return claims === null || claims.exp * 1000 > Date.now()
        ? Promise.resolve(claims)
        : Promise.reject(new PortalError("token_expired", { details: { issuedAt: claims.iat * 1000 } }));
    },
    storage: {
      getItem: (key) => storedItems.get(key) ?? null,
      setItem: (key, value) => void storedItems.set(key, value),
      removeItem: (key) => void storedItems.delete(key),
    },
    now: Date.now,
  });
  return { tokens, exchange: requestToken, storedItems, answers: responses, issued, vendor };
}

const getReadyToken = (tokens: TokenExchange) => {
  const state = tokens.getState();
  return state.status === "ready" ? state.sessionToken.token : null;
};

describe("createTokenExchange", () => {
  beforeEach(() => {
    jest.useFakeTimers({ now: startMs });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it("is empty until an access token is set", async () => {
    const { tokens, exchange } = setUp();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(tokens.getState()).toEqual({ status: "empty", error: null });
    expect(exchange).not.toHaveBeenCalled();
  });

  it("fails with clock_wrong, without a retry, when a new token has already expired", async () => {
    const { tokens, exchange, issued } = setUp();
    const service = startMs - 86_400_000;
    issued.set("t1", createClaims(service));
    tokens.setAccessToken("access");
    await jest.advanceTimersByTimeAsync(60_000);
    expect(tokens.getState()).toMatchObject({ status: "empty", error: { code: "clock_wrong", details: { service } } });
    expect(exchange).toHaveBeenCalledTimes(1);
  });

  it("works where a full storage takes no token", async () => {
    const { tokens, storedItems } = setUp();
    storedItems.set = () => {
      throw new DOMException("full", "QuotaExceededError");
    };
    tokens.setAccessToken("access");
    await jest.advanceTimersByTimeAsync(100);
    expect(getReadyToken(tokens)).toBe("t1");
    expect(tokens.getState()).not.toHaveProperty("error");
  });

  it("exchanges again when the stored token has expired", async () => {
    const { tokens } = setUp({ token: "old", claims: createClaims(startMs - 2 * lifetimeMs) });
    tokens.setAccessToken("access");
    await jest.advanceTimersByTimeAsync(60_000);
    expect(getReadyToken(tokens)).toBe("t1");
  });

  it("keeps a refused token together with the error, and exchanges again with the next access token", async () => {
    const { tokens, exchange, storedItems, answers } = setUp();
    tokens.setAccessToken("access");
    await jest.advanceTimersByTimeAsync(100);
    expect(getReadyToken(tokens)).toBe("t1");
    answers.push(new PortalError("login_required"), new PortalError("login_required"));
    await expect(tokens.renew("refused")).rejects.toMatchObject({ code: "login_required" });
    expect(tokens.getState()).toMatchObject({
      status: "ready",
      sessionToken: { token: "t1" },
      error: { code: "login_required" },
    });
    expect(storedItems.has(sessionTokenKey)).toBe(false); // a reload does not restore it
    await expect(tokens.getToken()).rejects.toMatchObject({ code: "login_required" });
    const callCountBefore = exchange.mock.calls.length;
    tokens.setAccessToken("access of another sign-in");
    await jest.advanceTimersByTimeAsync(100);
    expect(exchange.mock.calls.slice(callCountBefore)).toEqual([["access of another sign-in"]]);
    expect(tokens.getState()).toMatchObject({ status: "ready", sessionToken: { token: "t2" } });
    expect(tokens.getState()).not.toHaveProperty("error");
  });

  it("exchanges 100 ms after the access token is set", async () => {
    const { tokens, exchange, storedItems } = setUp();
    tokens.setAccessToken("access");
    await jest.advanceTimersByTimeAsync(99);
    expect(exchange).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(exchange).toHaveBeenCalledWith("access");
    expect(getReadyToken(tokens)).toBe("t1");
    expect(storedItems.get(sessionTokenKey)).toBe("t1");
  });

  it("keeps a stored token that is still valid", async () => {
    const { tokens, exchange } = setUp({ token: "stored", claims: createClaims(startMs - 60_000) });
    tokens.setAccessToken("access");
    await jest.advanceTimersByTimeAsync(500);
    expect(exchange).not.toHaveBeenCalled();
    expect(getReadyToken(tokens)).toBe("stored");
  });

  it("exchanges when the stored token is invalid", async () => {
    const { tokens, storedItems } = setUp({ token: "stored", claims: null });
    tokens.setAccessToken("access");
    await jest.advanceTimersByTimeAsync(500);
    expect(getReadyToken(tokens)).toBe("t1");
    expect(storedItems.get(sessionTokenKey)).toBe("t1");
  });

  it.each([
    ["another vendor was chosen", "acme", "relicario"],
    ["the vendor was reset to the default", "relicario", "acme"],
  ])("clears a valid stored token, and exchanges again, when %s", async (_name, wantedVendor, previousVendor) => {
    const { tokens, exchange, storedItems, vendor, issued } = setUp({
      token: "stored",
      claims: createClaims(startMs - 60_000, previousVendor),
    });
    vendor.id = wantedVendor;
    issued.set("t1", createClaims(startMs, wantedVendor));
    tokens.setAccessToken("access");
    await jest.advanceTimersByTimeAsync(99);
    expect(storedItems.has(sessionTokenKey)).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(exchange).toHaveBeenCalledTimes(1);
    expect(storedItems.get(sessionTokenKey)).toBe("t1");
  });

  it("refuses a token of another vendor from the service", async () => {
    const { tokens, vendor } = setUp();
    vendor.id = "acme";
    tokens.setAccessToken("access");
    await jest.advanceTimersByTimeAsync(5000);
    expect(tokens.getState()).toMatchObject({ status: "empty", error: { code: "token_invalid" } });
  });

  it("makes three attempts, 1 s apart, then stays empty with the error", async () => {
    const { tokens, exchange, answers } = setUp();
    answers.push(...[1, 2, 3].map(() => new PortalError("service_unavailable")));
    tokens.setAccessToken("access");
    await jest.advanceTimersByTimeAsync(exchangeTimes.initialDelayMs);
    expect(exchange).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(999);
    expect(exchange).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(exchange).toHaveBeenCalledTimes(2);
    await jest.advanceTimersByTimeAsync(1000);
    expect(exchange).toHaveBeenCalledTimes(3);
    expect(tokens.getState()).toMatchObject({ status: "empty", error: { code: "service_unavailable" } });
    await jest.advanceTimersByTimeAsync(600_000);
    expect(exchange).toHaveBeenCalledTimes(3);
  });

  it("makes new attempts on renew", async () => {
    const { tokens, answers } = setUp();
    answers.push(...[1, 2, 3].map(() => new PortalError("service_unavailable")));
    tokens.setAccessToken("access");
    await jest.advanceTimersByTimeAsync(5000);
    await expect(tokens.renew()).resolves.toMatchObject({ token: "t1" });
    expect(getReadyToken(tokens)).toBe("t1");
  });

  it("does not retry a final error", async () => {
    const { tokens, exchange, answers } = setUp();
    answers.push(new PortalError("vendor_disabled"));
    tokens.setAccessToken("access");
    await jest.advanceTimersByTimeAsync(10_000);
    expect(exchange).toHaveBeenCalledTimes(1);
    expect(tokens.getState()).toMatchObject({ status: "empty", error: { code: "vendor_disabled" } });
  });

  it("refuses a token that does not verify", async () => {
    const { tokens, answers, issued } = setUp();
    issued.set("forged", null);
    answers.push("forged", "forged", "forged");
    tokens.setAccessToken("access");
    await jest.advanceTimersByTimeAsync(5000);
    expect(tokens.getState()).toMatchObject({ status: "empty", error: { code: "token_invalid" } });
  });

  it("renews repeatedly at 90 % of the remaining life", async () => {
    const { tokens, exchange } = setUp();
    tokens.setAccessToken("access");
    await jest.advanceTimersByTimeAsync(100);
    const remainingMs = createClaims(startMs + 100).exp * 1000 - (startMs + 100);
    await jest.advanceTimersByTimeAsync(remainingMs * 0.9 - 1);
    expect(exchange).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(2);
    expect(exchange).toHaveBeenCalledTimes(2);
    expect(getReadyToken(tokens)).toBe("t2");
    await jest.advanceTimersByTimeAsync(lifetimeMs);
    expect(exchange).toHaveBeenCalledTimes(3);
  });

  it("returns the valid token while it is being renewed", async () => {
    const { tokens } = setUp();
    tokens.setAccessToken("access");
    await jest.advanceTimersByTimeAsync(100);
    void tokens.renew();
    expect(tokens.getState().status).toBe("exchanging");
    await expect(tokens.getToken()).resolves.toBe("t1");
    await jest.advanceTimersByTimeAsync(0);
  });

  it("keeps a valid token when its renewal fails", async () => {
    const { tokens, answers } = setUp();
    tokens.setAccessToken("access");
    await jest.advanceTimersByTimeAsync(100);
    answers.push(...[1, 2, 3].map(() => new PortalError("service_unavailable")));
    const renewal = tokens.renew();
    renewal.catch(() => undefined);
    await jest.advanceTimersByTimeAsync(3000);
    await expect(renewal).rejects.toMatchObject({ code: "service_unavailable" });
    expect(getReadyToken(tokens)).toBe("t1");
    await jest.advanceTimersByTimeAsync(lifetimeMs * 0.9);
    expect(getReadyToken(tokens)).toBe("t2"); // renewed automatically before it expires
  });

  it("drops a valid token when the service refuses its sign-in", async () => {
    const { tokens, answers, storedItems } = setUp();
    tokens.setAccessToken("access");
    await jest.advanceTimersByTimeAsync(100);
    const cause = new HttpError({
      status: 401,
      statusText: "Unauthorized",
      path: "/auth/token",
      requestId: null,
      problem: null,
      body: null,
    });
    answers.push(...[1, 2, 3].map(() => new PortalError("token_invalid", { cause })));
    const renewal = tokens.renew();
    renewal.catch(() => undefined);
    await jest.advanceTimersByTimeAsync(3000);
    await expect(renewal).rejects.toMatchObject({ code: "token_invalid" });
    expect(tokens.getState()).toMatchObject({ status: "empty", error: { code: "token_invalid" } });
    expect(storedItems.has(sessionTokenKey)).toBe(false);
  });

  it("renews with a new access token after an exchange that began with an older one", async () => {
    const { tokens, exchange } = setUp();
    tokens.setAccessToken("old");
    await jest.advanceTimersByTimeAsync(50);
    tokens.setAccessToken("new");
    const renewal = tokens.renew("after");
    await jest.advanceTimersByTimeAsync(50);
    await expect(renewal).resolves.toMatchObject({ token: "t2" });
    expect(exchange).toHaveBeenCalledTimes(2);
    expect(exchange).toHaveBeenLastCalledWith("new");
  });

  it("shares one exchange between concurrent calls", async () => {
    const { tokens, exchange } = setUp();
    tokens.setAccessToken("access");
    const calls = [tokens.getToken(), tokens.getToken(), tokens.renew().then(({ token }) => token)];
    await jest.advanceTimersByTimeAsync(100);
    await expect(Promise.all(calls)).resolves.toEqual(["t1", "t1", "t1"]);
    expect(exchange).toHaveBeenCalledTimes(1);
  });

  it("uses the newest access token of the provider", async () => {
    const { tokens, exchange } = setUp();
    tokens.setAccessToken("old");
    await jest.advanceTimersByTimeAsync(100);
    tokens.setAccessToken("new");
    await tokens.renew();
    expect(exchange).toHaveBeenLastCalledWith("new");
  });

  it("drops tokens, timers and late responses when cleared", async () => {
    const { tokens, storedItems } = setUp();
    tokens.setAccessToken("access");
    await jest.advanceTimersByTimeAsync(99);
    tokens.clear();
    await jest.advanceTimersByTimeAsync(5000);
    expect(tokens.getState()).toEqual({ status: "empty", error: null });
    expect(storedItems.size).toBe(0);
    await expect(tokens.getToken()).rejects.toMatchObject({ code: "login_required" });
  });

  it("notifies its listeners until they unsubscribe", async () => {
    const { tokens } = setUp();
    const statuses: string[] = [];
    const unsubscribe = tokens.subscribe(() => statuses.push(tokens.getState().status));
    tokens.setAccessToken("access");
    await jest.advanceTimersByTimeAsync(100);
    unsubscribe();
    tokens.clear();
    expect(statuses).toEqual(["exchanging", "ready"]);
  });
});
