import { spring, springAt, springEasing, springMilliseconds } from "./motion.ts";

describe("the spring of modals", () => {
  it("has the specification's stiffness and damping", () => {
    expect(spring).toEqual({ stiffness: 400, damping: 17 });
  });

  it("obeys the equation of a damped spring of mass 1", () => {
    const step = 0.01;
    for (let at = 20; at < springMilliseconds; at += 20) {
      const [before, now, after] = [springAt(at - step), springAt(at), springAt(at + step)];
      const speed = (after - before) / (2 * step) * 1000;
      const acceleration = ((after - 2 * now + before) / (step * step)) * 1_000_000;
      expect(acceleration).toBeCloseTo(spring.stiffness * (1 - now) - spring.damping * speed, 1);
    }
  });

  it("starts at rest, swings over, and has come to rest when it ends", () => {
    expect(springAt(0)).toBe(0);
    expect(Math.max(...Array.from({ length: 30 }, (_, index) => springAt(index * 20)))).toBeGreaterThan(1.1);
    expect(Math.abs(springAt(springMilliseconds) - 1)).toBeLessThan(0.01);
    expect(springEasing).toMatch(/^linear\(0\.000, .*, 1\)$/);
  });
});
