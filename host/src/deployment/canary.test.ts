import { drawKey, drawn, sessionDraw } from "./canary.ts";

describe("sessionDraw", () => {
  beforeEach(() => {
    sessionStorage.clear();
  });

  it("stays the same as long as the tab lives", () => {
    const first = sessionDraw(sessionStorage);
    expect(sessionDraw(sessionStorage)).toBe(first);
    expect(sessionStorage.getItem(drawKey)).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("spreads sessions evenly over the hundred", () => {
    const tenths = Array.from({ length: 10 }, () => 0);
    for (let count = 0; count < 5000; count++) {
      sessionStorage.clear();
      const place = sessionDraw(sessionStorage, () => `session-${String(count)}`);
      const tenth = Math.floor(place / 10);
      tenths[tenth] = (tenths[tenth] ?? 0) + 1;
    }
    for (const found of tenths) expect(Math.abs(found - 500)).toBeLessThan(120);
  });

  it("draws all the same where storage is forbidden", () => {
    const forbidden = {
      getItem: () => {
        throw new DOMException("forbidden", "SecurityError");
      },
      setItem: () => undefined,
    };
    expect(sessionDraw(forbidden, () => "a")).toBeGreaterThanOrEqual(0);
  });
});

describe("drawn", () => {
  it.each([
    [0, 0, false],
    [0, 1, true],
    [99.9, 100, true],
    [50, 50, false],
  ])("at %d of %d percent: %s", (draw, percent, expected) => {
    expect(drawn(draw, percent)).toBe(expected);
  });
});
