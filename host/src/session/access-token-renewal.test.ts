import { createAccessTokenRenewal } from "./access-token-renewal.ts";

const timeout = new Error("late");
const unavailable = new Error("away");
const refused = new Error("refused");

function setUp() {
  const outcomes: (Error | null)[] = [];
  const renew = jest.fn(() => {
    const outcome = outcomes.shift() ?? null;
    return outcome === null ? Promise.resolve() : Promise.reject(outcome);
  });
  const onError = jest.fn();
  const renewal = createAccessTokenRenewal({
    renew,
    onError,
    isTimeout: (error) => error === timeout,
    isTransient: (error) => error !== refused,
    now: Date.now,
  });
  return { renewal, renew, onError, outcomes };
}

describe("createAccessTokenRenewal", () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it("renews once, 60 s before the access token expires", async () => {
    const { renewal, renew } = setUp();
    renewal.schedule({ expires_in: 300 }, "new");
    await jest.advanceTimersByTimeAsync(239_999);
    expect(renew).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(renew).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(600_000);
    expect(renew).toHaveBeenCalledTimes(1);
  });

  it("shortens the lead of short-lived tokens in proportion to their life", async () => {
    const { renewal, renew } = setUp();
    renewal.schedule({ expires_in: 30 }, "new");
    await jest.advanceTimersByTimeAsync(23_999);
    expect(renew).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(renew).toHaveBeenCalledTimes(1);
  });

  it("keeps the full lead for a token restored after a reload", async () => {
    const { renewal, renew } = setUp();
    renewal.schedule({ expires_in: 100 }, "restored");
    await jest.advanceTimersByTimeAsync(39_999);
    expect(renew).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(renew).toHaveBeenCalledTimes(1);
  });

  it.each([
    ["that is about to expire", 20],
    ["that has expired", 0],
  ])("waits at least a second before renewing a token %s", async (_name, expires_in) => {
    const { renewal, renew } = setUp();
    renewal.schedule({ expires_in }, "restored");
    await jest.advanceTimersByTimeAsync(999);
    expect(renew).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(renew).toHaveBeenCalledTimes(1);
  });

  it("renews soon after a machine wakes past the due time", async () => {
    const { renewal, renew } = setUp();
    renewal.schedule({ expires_in: 300 }, "new");
    jest.setSystemTime(Date.now() + 3_600_000);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(renew).toHaveBeenCalledTimes(1);
  });

  it("tries again 5 s after the frame timed out, without an error", async () => {
    const { renewal, renew, onError, outcomes } = setUp();
    outcomes.push(timeout, timeout);
    renewal.schedule({ expires_in: 300 }, "new");
    await jest.advanceTimersByTimeAsync(240_000);
    await jest.advanceTimersByTimeAsync(4_999);
    expect(renew).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(renew).toHaveBeenCalledTimes(2);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(renew).toHaveBeenCalledTimes(3);
    expect(onError).not.toHaveBeenCalled();
  });

  it("reports any other error, and tries again after 5 s if it is transient", async () => {
    const { renewal, renew, onError, outcomes } = setUp();
    outcomes.push(unavailable, refused);
    renewal.schedule({ expires_in: 300 }, "new");
    await jest.advanceTimersByTimeAsync(240_000);
    expect(onError).toHaveBeenLastCalledWith(unavailable);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(onError).toHaveBeenLastCalledWith(refused);
    await jest.advanceTimersByTimeAsync(600_000);
    expect(renew).toHaveBeenCalledTimes(2);
  });

  it("is rescheduled by a newer token, also during an attempt", async () => {
    const { renewal, renew, onError } = setUp();
    let fail: (error: Error) => void = () => undefined;
    renew.mockImplementationOnce(() => new Promise((_resolve, reject) => (fail = reject)));
    renewal.schedule({ expires_in: 300 }, "new");
    await jest.advanceTimersByTimeAsync(240_000);
    renewal.schedule({ expires_in: 300 }, "new");
    fail(unavailable);
    await jest.advanceTimersByTimeAsync(239_999);
    expect(onError).not.toHaveBeenCalled();
    expect(renew).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(renew).toHaveBeenCalledTimes(2);
  });

  it("renews nothing once stopped", async () => {
    const { renewal, renew } = setUp();
    renewal.schedule({ expires_in: 300 }, "new");
    renewal.stop();
    await jest.advanceTimersByTimeAsync(600_000);
    expect(renew).not.toHaveBeenCalled();
  });

  it("does not renew a token without an expiry", async () => {
    const { renewal, renew } = setUp();
    renewal.schedule({}, "new");
    await jest.advanceTimersByTimeAsync(600_000);
    expect(renew).not.toHaveBeenCalled();
  });
});
