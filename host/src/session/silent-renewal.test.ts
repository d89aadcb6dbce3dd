import { createSilentRenewal } from "./silent-renewal.ts";

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
  const renewal = createSilentRenewal({
    renew,
    onError,
    isTimeout: (error) => error === timeout,
    isTransient: (error) => error !== refused,
    now: Date.now,
  });
  return { renewal, renew, onError, outcomes };
}

describe("createSilentRenewal", () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it("renews 60 s before the access token expires, and once", async () => {
    const { renewal, renew } = setUp();
    renewal.watch({ expires_in: 300 }, "new");
    await jest.advanceTimersByTimeAsync(239_999);
    expect(renew).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(renew).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(600_000);
    expect(renew).toHaveBeenCalledTimes(1);
  });

  it("shortens the notice in proportion where tokens live shortly", async () => {
    const { renewal, renew } = setUp();
    renewal.watch({ expires_in: 30 }, "new");
    await jest.advanceTimersByTimeAsync(23_999);
    expect(renew).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(renew).toHaveBeenCalledTimes(1);
  });

  it("keeps the whole notice for a token that was kept over a reload", async () => {
    const { renewal, renew } = setUp();
    renewal.watch({ expires_in: 100 }, "restored");
    await jest.advanceTimersByTimeAsync(39_999);
    expect(renew).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(renew).toHaveBeenCalledTimes(1);
  });

  it.each([
    ["that is about to expire", 20],
    ["that lives for no time at all", 0],
  ])("waits a second at least, with a token %s", async (_name, expires_in) => {
    const { renewal, renew } = setUp();
    renewal.watch({ expires_in }, "restored");
    await jest.advanceTimersByTimeAsync(999);
    expect(renew).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(renew).toHaveBeenCalledTimes(1);
  });

  it("renews soon after the machine slept past the time", async () => {
    const { renewal, renew } = setUp();
    renewal.watch({ expires_in: 300 }, "new");
    jest.setSystemTime(Date.now() + 3_600_000);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(renew).toHaveBeenCalledTimes(1);
  });

  it("tries again 5 s after the frame timed out, and says nothing", async () => {
    const { renewal, renew, onError, outcomes } = setUp();
    outcomes.push(timeout, timeout);
    renewal.watch({ expires_in: 300 }, "new");
    await jest.advanceTimersByTimeAsync(240_000);
    await jest.advanceTimersByTimeAsync(4_999);
    expect(renew).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(renew).toHaveBeenCalledTimes(2);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(renew).toHaveBeenCalledTimes(3);
    expect(onError).not.toHaveBeenCalled();
  });

  it("says any other error, and tries again after 5 s where that may help", async () => {
    const { renewal, renew, onError, outcomes } = setUp();
    outcomes.push(unavailable, refused);
    renewal.watch({ expires_in: 300 }, "new");
    await jest.advanceTimersByTimeAsync(240_000);
    expect(onError).toHaveBeenLastCalledWith(unavailable);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(onError).toHaveBeenLastCalledWith(refused);
    await jest.advanceTimersByTimeAsync(600_000);
    expect(renew).toHaveBeenCalledTimes(2);
  });

  it("begins anew with a newer token, also while an attempt is under way", async () => {
    const { renewal, renew, onError } = setUp();
    let fail: (error: Error) => void = () => undefined;
    renew.mockImplementationOnce(() => new Promise((_resolve, reject) => (fail = reject)));
    renewal.watch({ expires_in: 300 }, "new");
    await jest.advanceTimersByTimeAsync(240_000);
    renewal.watch({ expires_in: 300 }, "new");
    fail(unavailable);
    await jest.advanceTimersByTimeAsync(239_999);
    expect(onError).not.toHaveBeenCalled();
    expect(renew).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(renew).toHaveBeenCalledTimes(2);
  });

  it("stops", async () => {
    const { renewal, renew } = setUp();
    renewal.watch({ expires_in: 300 }, "new");
    renewal.stop();
    await jest.advanceTimersByTimeAsync(600_000);
    expect(renew).not.toHaveBeenCalled();
  });

  it("leaves a token alone of which the provider does not say how long it lives", async () => {
    const { renewal, renew } = setUp();
    renewal.watch({}, "new");
    await jest.advanceTimersByTimeAsync(600_000);
    expect(renew).not.toHaveBeenCalled();
  });
});
