import { createTourStorage, onboardingKey, toursSeenKey } from "./tour-storage.ts";

describe("createTourStorage", () => {
  beforeEach(() => {
    localStorage.clear();
  });

  it("stores onboarding=true", () => {
    const memory = createTourStorage(() => localStorage);
    expect(memory.isOnboarded()).toBe(false);
    memory.setOnboarded();
    expect(localStorage.getItem(onboardingKey)).toBe("true");
    expect(createTourStorage(() => localStorage).isOnboarded()).toBe(true);
  });

  it("stores each tour that was shown; a replayed tour counts as not shown until it is shown again", () => {
    const memory = createTourStorage(() => localStorage);
    memory.markSeen("list");
    expect([memory.hasSeen("list"), memory.hasSeen("add")]).toEqual([true, false]);
    memory.offerAgain("list");
    expect(memory.hasSeen("list")).toBe(false);
    memory.markSeen("list");
    expect(createTourStorage(() => localStorage).hasSeen("list")).toBe(true);
  });

  it("offers no tours after one was skipped, except a tour to replay", () => {
    const memory = createTourStorage(() => localStorage);
    memory.markAllSeen();
    expect(memory.hasSeen("anything")).toBe(true);
    memory.offerAgain("anything");
    expect(memory.hasSeen("anything")).toBe(false);
  });

  it.each([
    ["not JSON", "{"],
    ["another shape", '{"a":1}'],
  ])("starts empty when storage holds %s", (_, stored) => {
    localStorage.setItem(toursSeenKey, stored);
    expect(createTourStorage(() => localStorage).hasSeen("list")).toBe(false);
  });

  it("works when storage is forbidden", () => {
    const memory = createTourStorage(() => {
      throw new DOMException("no", "SecurityError");
    });
    memory.setOnboarded();
    memory.markSeen("list");
    expect([memory.isOnboarded(), memory.hasSeen("list")]).toEqual([false, false]);
  });
});
