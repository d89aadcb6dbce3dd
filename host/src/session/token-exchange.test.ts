import type { SessionClaims } from "@relicario/shared/api";
import { HttpError, PortalError } from "@relicario/shared/errors";

import { createTokenExchange, exchangeTimes, sessionTokenKey, type TokenExchange } from "./token-exchange.ts";

const lifetimeMs = 900_000;
const start = Date.parse("2026-11-21T10:00:00.000Z");

const createClaims = (issuedMs: number, vid = "relicario"): SessionClaims => ({
  sub: "01890a5d-ac96-7000-8000-000000000001",
  iss: "http://localhost:3000/api",
  aud: "relicario-portal",
  vid,
  sid: "s",
  iat: Math.floor(issuedMs / 1000),
  exp: Math.floor((issuedMs + lifetimeMs) / 1000),
});

/** A service whose tokens are `t1`, `t2`, …, each living 15 minutes from its making. */
function setUp(stored?: { token: string; claims: SessionClaims | null }) {
  const answers: (string | PortalError)[] = [];
  const issued = new Map<string, SessionClaims | null>(stored === undefined ? [] : [[stored.token, stored.claims]]);
  let issuedCount = 0;
  const exchange = jest.fn((_accessToken: string) => {
    const answer = answers.shift();
    if (answer instanceof PortalError) return Promise.reject(answer);
    const token = answer ?? `t${String(++issuedCount)}`;
    if (!issued.has(token)) issued.set(token, createClaims(Date.now()));
    return Promise.resolve(token);
  });
  const storedItems = new Map<string, string>(stored === undefined ? [] : [[sessionTokenKey, stored.token]]);
  const vendor = { id: "relicario" };
  const tokens = createTokenExchange({
    requestToken: exchange,
    getVendorId: () => vendor.id,
    checkAccount: () => Promise.resolve(),
    verify: (token) => Promise.resolve(issued.get(token) ?? null),
    storage: {
      getItem: (key) => storedItems.get(key) ?? null,
      setItem: (key, value) => void storedItems.set(key, value),
      removeItem: (key) => void storedItems.delete(key),
    },
    now: Date.now,
  });
  return { tokens, exchange, kept: storedItems, answers, issued, vendor };
}

const getReadyToken = (tokens: TokenExchange) => {
  const state = tokens.getState();
  return state.status === "ready" ? state.session.token : null;
};

describe("createTokenExchange", () => {
  beforeEach(() => {
    jest.useFakeTimers({ now: start });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it("is empty until an access token is there", async () => {
    const { tokens, exchange } = setUp();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(tokens.getState()).toEqual({ status: "empty", error: null });
    expect(exchange).not.toHaveBeenCalled();
  });

  it("keeps the screen of a session that the service takes no more, says why, and begins anew with the next access token", async () => {
    const { tokens, exchange, kept, answers } = setUp();
    tokens.start("access");
    await jest.advanceTimersByTimeAsync(100);
    expect(getReadyToken(tokens)).toBe("t1");
    answers.push(new PortalError("login_required"), new PortalError("login_required"));
    await expect(tokens.renew("refused")).rejects.toMatchObject({ code: "login_required" });
    expect(tokens.getState()).toMatchObject({
      status: "ready",
      session: { token: "t1" },
      error: { code: "login_required" },
    });
    expect(kept.has(sessionTokenKey)).toBe(false); // a reload does not take it up again
    await expect(tokens.getToken()).rejects.toMatchObject({ code: "login_required" });
    const before = exchange.mock.calls.length;
    tokens.start("access of another sign-in");
    await jest.advanceTimersByTimeAsync(100);
    expect(exchange.mock.calls.slice(before)).toEqual([["access of another sign-in"]]);
    expect(tokens.getState()).toMatchObject({ status: "ready", session: { token: "t2" } });
    expect(tokens.getState()).not.toHaveProperty("error");
  });

  it("exchanges 100 ms after the access token is there", async () => {
    const { tokens, exchange, kept } = setUp();
    tokens.start("access");
    await jest.advanceTimersByTimeAsync(99);
    expect(exchange).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(exchange).toHaveBeenCalledWith("access");
    expect(getReadyToken(tokens)).toBe("t1");
    expect(kept.get(sessionTokenKey)).toBe("t1");
  });

  it("keeps a stored token that still holds", async () => {
    const { tokens, exchange } = setUp({ token: "stored", claims: createClaims(start - 60_000) });
    tokens.start("access");
    await jest.advanceTimersByTimeAsync(500);
    expect(exchange).not.toHaveBeenCalled();
    expect(getReadyToken(tokens)).toBe("stored");
  });

  it("exchanges when the stored token does not hold", async () => {
    const { tokens, kept } = setUp({ token: "stored", claims: null });
    tokens.start("access");
    await jest.advanceTimersByTimeAsync(500);
    expect(getReadyToken(tokens)).toBe("t1");
    expect(kept.get(sessionTokenKey)).toBe("t1");
  });

  it.each([
    ["another vendor was chosen", "acme", "relicario"],
    ["the vendor was reset to the default", "relicario", "acme"],
  ])(
    "clears a stored token that still holds, and exchanges anew, when %s",
    async (_name, wantedVendor, previousVendor) => {
      const { tokens, exchange, kept, vendor, issued } = setUp({
        token: "stored",
        claims: createClaims(start - 60_000, previousVendor),
      });
      vendor.id = wantedVendor;
      issued.set("t1", createClaims(start, wantedVendor));
      tokens.start("access");
      await jest.advanceTimersByTimeAsync(99);
      expect(kept.has(sessionTokenKey)).toBe(false);
      await jest.advanceTimersByTimeAsync(1);
      expect(exchange).toHaveBeenCalledTimes(1);
      expect(kept.get(sessionTokenKey)).toBe("t1");
    },
  );

  it("takes no token of another vendor from the service", async () => {
    const { tokens, vendor } = setUp();
    vendor.id = "acme";
    tokens.start("access");
    await jest.advanceTimersByTimeAsync(5000);
    expect(tokens.getState()).toMatchObject({ status: "empty", error: { code: "token_invalid" } });
  });

  it("makes three attempts, 1 s apart, then stays empty and says why", async () => {
    const { tokens, exchange, answers } = setUp();
    answers.push(...[1, 2, 3].map(() => new PortalError("service_unavailable")));
    tokens.start("access");
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

  it("tries again when somebody asks for it", async () => {
    const { tokens, answers } = setUp();
    answers.push(...[1, 2, 3].map(() => new PortalError("service_unavailable")));
    tokens.start("access");
    await jest.advanceTimersByTimeAsync(5000);
    await expect(tokens.renew()).resolves.toMatchObject({ token: "t1" });
    expect(getReadyToken(tokens)).toBe("t1");
  });

  it("makes no further attempt where none can help", async () => {
    const { tokens, exchange, answers } = setUp();
    answers.push(new PortalError("vendor_disabled"));
    tokens.start("access");
    await jest.advanceTimersByTimeAsync(10_000);
    expect(exchange).toHaveBeenCalledTimes(1);
    expect(tokens.getState()).toMatchObject({ status: "empty", error: { code: "vendor_disabled" } });
  });

  it("refuses a token that does not verify", async () => {
    const { tokens, answers, issued } = setUp();
    issued.set("forged", null);
    answers.push("forged", "forged", "forged");
    tokens.start("access");
    await jest.advanceTimersByTimeAsync(5000);
    expect(tokens.getState()).toMatchObject({ status: "empty", error: { code: "token_invalid" } });
  });

  it("renews at 90 % of the remaining life, again and again", async () => {
    const { tokens, exchange } = setUp();
    tokens.start("access");
    await jest.advanceTimersByTimeAsync(100);
    const remainingMs = createClaims(start + 100).exp * 1000 - (start + 100);
    await jest.advanceTimersByTimeAsync(remainingMs * 0.9 - 1);
    expect(exchange).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(2);
    expect(exchange).toHaveBeenCalledTimes(2);
    expect(getReadyToken(tokens)).toBe("t2");
    await jest.advanceTimersByTimeAsync(lifetimeMs);
    expect(exchange).toHaveBeenCalledTimes(3);
  });

  it("gives the token that lives while it is being renewed", async () => {
    const { tokens } = setUp();
    tokens.start("access");
    await jest.advanceTimersByTimeAsync(100);
    void tokens.renew();
    expect(tokens.getState().status).toBe("exchanging");
    await expect(tokens.getToken()).resolves.toBe("t1");
    await jest.advanceTimersByTimeAsync(0);
  });

  it("keeps a token that lives when its renewal fails", async () => {
    const { tokens, answers } = setUp();
    tokens.start("access");
    await jest.advanceTimersByTimeAsync(100);
    answers.push(...[1, 2, 3].map(() => new PortalError("service_unavailable")));
    const renewal = tokens.renew();
    renewal.catch(() => undefined);
    await jest.advanceTimersByTimeAsync(3000);
    await expect(renewal).rejects.toMatchObject({ code: "service_unavailable" });
    expect(getReadyToken(tokens)).toBe("t1");
    await jest.advanceTimersByTimeAsync(lifetimeMs * 0.9);
    expect(getReadyToken(tokens)).toBe("t2"); // tried again by itself, before it expires
  });

  it("drops a token that lives when the service refuses the sign-in that it came from", async () => {
    const { tokens, answers, kept } = setUp();
    tokens.start("access");
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
    expect(kept.has(sessionTokenKey)).toBe(false);
  });

  it("exchanges once more after one that is under way when the access token is newer than that one", async () => {
    const { tokens, exchange } = setUp();
    tokens.start("old");
    await jest.advanceTimersByTimeAsync(50);
    tokens.start("new");
    const renewal = tokens.renew("after");
    await jest.advanceTimersByTimeAsync(50);
    await expect(renewal).resolves.toMatchObject({ token: "t2" });
    expect(exchange).toHaveBeenCalledTimes(2);
    expect(exchange).toHaveBeenLastCalledWith("new");
  });

  it("asks once when many calls need a token", async () => {
    const { tokens, exchange } = setUp();
    tokens.start("access");
    const calls = [tokens.getToken(), tokens.getToken(), tokens.renew().then(({ token }) => token)];
    await jest.advanceTimersByTimeAsync(100);
    await expect(Promise.all(calls)).resolves.toEqual(["t1", "t1", "t1"]);
    expect(exchange).toHaveBeenCalledTimes(1);
  });

  it("uses the newest access token of the provider", async () => {
    const { tokens, exchange } = setUp();
    tokens.start("old");
    await jest.advanceTimersByTimeAsync(100);
    tokens.start("new");
    await tokens.renew();
    expect(exchange).toHaveBeenLastCalledWith("new");
  });

  it("forgets everything when cleared, and drops an answer that comes later", async () => {
    const { tokens, kept } = setUp();
    tokens.start("access");
    await jest.advanceTimersByTimeAsync(99);
    tokens.clear();
    await jest.advanceTimersByTimeAsync(5000);
    expect(tokens.getState()).toEqual({ status: "empty", error: null });
    expect(kept.size).toBe(0);
    await expect(tokens.getToken()).rejects.toMatchObject({ code: "login_required" });
  });

  it("tells its listeners, until they leave", async () => {
    const { tokens } = setUp();
    const statuses: string[] = [];
    const unsubscribe = tokens.subscribe(() => statuses.push(tokens.getState().status));
    tokens.start("access");
    await jest.advanceTimersByTimeAsync(100);
    unsubscribe();
    tokens.clear();
    expect(statuses).toEqual(["exchanging", "ready"]);
  });
});
