import { PortalError } from "@relicario/shared/errors";
import { createFakeHttpClient } from "@relicario/shared/testing";
import { z } from "zod";

import { recheckDelaysMs, createReachability } from "./reachability.ts";

function setUp() {
  const http = createFakeHttpClient({ "GET /user/me": () => 1 });
  const checkService = jest.fn(() => Promise.reject(new PortalError("service_unavailable")));
  const reachability = createReachability(checkService as () => Promise<unknown>);
  const observedHttp = reachability.observe(http);
  return {
    http,
    ask: checkService,
    reachability,
    call: () => observedHttp.request("GET", "/user/me", z.number()).catch(() => null),
  };
}

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const makeServicePass = (ask: jest.Mock) => ask.mockImplementation(() => Promise.resolve());

describe("createReachability", () => {
  it("says nothing when one call broke off but the service answers", async () => {
    const { http, ask, reachability, call } = setUp();
    makeServicePass(ask as jest.Mock);
    http.failWith("service_unavailable");
    await call();
    await jest.advanceTimersByTimeAsync(0);
    expect(ask).toHaveBeenCalledTimes(1);
    expect(reachability.isDown()).toBe(false);
  });

  it("is down when the service does not answer when asked, asks less and less often, and ends with the first answer", async () => {
    const { http, ask, reachability, call } = setUp();
    const listener = jest.fn();
    reachability.subscribe(listener);
    http.failWith("service_unavailable");
    await call();
    await jest.advanceTimersByTimeAsync(0);
    expect(reachability.isDown()).toBe(true);
    const [first, second] = recheckDelaysMs;
    await jest.advanceTimersByTimeAsync(first);
    expect(ask).toHaveBeenCalledTimes(2);
    await jest.advanceTimersByTimeAsync(second - 1);
    expect(ask).toHaveBeenCalledTimes(2);
    makeServicePass(ask as jest.Mock);
    await jest.advanceTimersByTimeAsync(1);
    expect(reachability.isDown()).toBe(false);
    await jest.advanceTimersByTimeAsync(120_000);
    expect(ask).toHaveBeenCalledTimes(3);
    expect(listener).toHaveBeenCalledTimes(2);
  });

  it("is up again as soon as any call is answered", async () => {
    const { http, ask, reachability, call } = setUp();
    http.failWith("service_unavailable");
    await call();
    await jest.advanceTimersByTimeAsync(0);
    http.failWith(null);
    await call();
    expect(reachability.isDown()).toBe(false);
    await jest.advanceTimersByTimeAsync(120_000);
    expect(ask).toHaveBeenCalledTimes(1);
  });

  it.each(["not_found", "offline", "token_expired"] as const)("takes %s for no sign of it", async (code) => {
    const { http, ask, call } = setUp();
    http.failWith(code);
    await call();
    expect(ask).not.toHaveBeenCalled();
  });
});
