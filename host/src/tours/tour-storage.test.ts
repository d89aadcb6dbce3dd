import { createTourStorage, onboardingKey, toursSeenKey } from "./tour-storage.ts";

describe("createTourStorage", () => {
  beforeEach(() => {
    localStorage.clear();
  });

  it("stores onboarding=true", () => {
    const memory = createTourStorage(() => localStorage);
    expect(memory.onboarded()).toBe(false);
    memory.setOnboarded();
    expect(localStorage.getItem(onboardingKey)).toBe("true");
    expect(createTourStorage(() => localStorage).onboarded()).toBe(true);
  });

  it("remembers each tour that was shown, and one asked for again until it was shown", () => {
    const memory = createTourStorage(() => localStorage);
    memory.setSeen("list");
    expect([memory.seen("list"), memory.seen("add")]).toEqual([true, false]);
    memory.forget("list");
    expect(memory.seen("list")).toBe(false);
    memory.setSeen("list");
    expect(createTourStorage(() => localStorage).seen("list")).toBe(true);
  });

  it("offers no more tours to somebody who skipped one, unless asked", () => {
    const memory = createTourStorage(() => localStorage);
    memory.setAllSeen();
    expect(memory.seen("anything")).toBe(true);
    memory.forget("anything");
    expect(memory.seen("anything")).toBe(false);
  });

  it.each([
    ["not JSON", "{"],
    ["something else", '{"a":1}'],
  ])("starts anew when storage holds %s", (_, kept) => {
    localStorage.setItem(toursSeenKey, kept);
    expect(createTourStorage(() => localStorage).seen("list")).toBe(false);
  });

  it("goes on when storage is forbidden", () => {
    const memory = createTourStorage(() => {
      throw new DOMException("no", "SecurityError");
    });
    memory.setOnboarded();
    memory.setSeen("list");
    expect([memory.onboarded(), memory.seen("list")]).toEqual([false, false]);
  });
});
