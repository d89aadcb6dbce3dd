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
    checkService,
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

const letServiceRespond = (checkService: jest.Mock) => checkService.mockImplementation(() => Promise.resolve());

describe("createReachability", () => {
  it("is up when a call failed but the check succeeds", async () => {
    const { http, checkService, reachability, call } = setUp();
    letServiceRespond(checkService as jest.Mock);
    http.failWith("service_unavailable");
    await call();
    await jest.advanceTimersByTimeAsync(0);
    expect(checkService).toHaveBeenCalledTimes(1);
    expect(reachability.isDown()).toBe(false);
  });

  it("is down when the check fails, and checks with growing pauses until the first response", async () => {
    const { http, checkService, reachability, call } = setUp();
    const listener = jest.fn();
    reachability.subscribe(listener);
    http.failWith("service_unavailable");
    await call();
    await jest.advanceTimersByTimeAsync(0);
    expect(reachability.isDown()).toBe(true);
    const [first, second] = recheckDelaysMs;
    await jest.advanceTimersByTimeAsync(first);
    expect(checkService).toHaveBeenCalledTimes(2);
    await jest.advanceTimersByTimeAsync(second - 1);
    expect(checkService).toHaveBeenCalledTimes(2);
    letServiceRespond(checkService as jest.Mock);
    await jest.advanceTimersByTimeAsync(1);
    expect(reachability.isDown()).toBe(false);
    await jest.advanceTimersByTimeAsync(120_000);
    expect(checkService).toHaveBeenCalledTimes(3);
    expect(listener).toHaveBeenCalledTimes(2);
  });

  it("is up again with the first call that succeeds", async () => {
    const { http, checkService, reachability, call } = setUp();
    http.failWith("service_unavailable");
    await call();
    await jest.advanceTimersByTimeAsync(0);
    http.failWith(null);
    await call();
    expect(reachability.isDown()).toBe(false);
    await jest.advanceTimersByTimeAsync(120_000);
    expect(checkService).toHaveBeenCalledTimes(1);
  });

  it.each(["not_found", "offline", "token_expired"] as const)("ignores %s", async (code) => {
    const { http, checkService, call } = setUp();
    http.failWith(code);
    await call();
    expect(checkService).not.toHaveBeenCalled();
  });
});
