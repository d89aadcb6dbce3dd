import { rolloutBucketKey, isInRollout, getRolloutBucket } from "./canary.ts";

describe("getRolloutBucket", () => {
  beforeEach(() => {
    sessionStorage.clear();
  });

  it("stays the same while the tab is open", () => {
    const first = getRolloutBucket(sessionStorage);
    expect(getRolloutBucket(sessionStorage)).toBe(first);
    expect(sessionStorage.getItem(rolloutBucketKey)).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("distributes sessions evenly", () => {
    const countByTenth = Array.from({ length: 10 }, () => 0);
    for (let count = 0; count < 5000; count++) {
      sessionStorage.clear();
      const bucket = getRolloutBucket(sessionStorage, () => `session-${String(count)}`);
      const tenth = Math.floor(bucket / 10);
      countByTenth[tenth] = (countByTenth[tenth] ?? 0) + 1;
    }
    for (const count of countByTenth) expect(Math.abs(count - 500)).toBeLessThan(120);
  });

  it("returns a bucket where storage is forbidden", () => {
    const forbidden = {
      getItem: () => {
        throw new DOMException("forbidden", "SecurityError");
      },
      setItem: () => undefined,
    };
    expect(getRolloutBucket(forbidden, () => "a")).toBeGreaterThanOrEqual(0);
  });
});

describe("isInRollout", () => {
  it.each([
    [0, 0, false],
    [0, 1, true],
    [99.9, 100, true],
    [50, 50, false],
  ])("returns for the bucket %d at %d percent: %s", (rolloutBucket, percent, expected) => {
    expect(isInRollout(rolloutBucket, percent)).toBe(expected);
  });
});
