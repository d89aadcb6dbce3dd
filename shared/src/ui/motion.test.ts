import {
  dialogMotion,
  layoutBlockMilliseconds,
  layoutMotion,
  exitMilliseconds,
  panelMotion,
  backdropMotion,
  slideMotion,
  spring,
  toastMotion,
} from "./motion.ts";

describe("spring", () => {
  it("has the specification's stiffness and damping", () => {
    expect(spring).toEqual({ type: "spring", stiffness: 400, damping: 17 });
  });

  it.each(Object.entries({ dialogMotion, panelMotion, toastMotion, slideMotion }))(
    "is the transition with which %s enters",
    (_, { variants }) => {
      expect(variants.visible.transition).toBe(spring);
    },
  );
});

describe("enter animations", () => {
  it.each(Object.entries({ dialogMotion, panelMotion, toastMotion }))(
    "are opaque from the first frame: %s",
    (_, { variants }) => {
      expect(variants.hidden).not.toHaveProperty("opacity");
    },
  );

  it("slide in from the side of the direction", () => {
    expect(slideMotion.variants.hidden(1).x).toBeGreaterThan(0);
    expect(slideMotion.variants.hidden(-1).x).toBe(-slideMotion.variants.hidden(1).x);
    expect(slideMotion.variants.exit(1).x).toBe(slideMotion.variants.hidden(-1).x);
  });
});

describe("exit animations", () => {
  it.each(Object.entries({ backdropMotion, panelMotion, toastMotion }))(
    "are short and do not overshoot: %s",
    (_, { variants }) => {
      expect(variants.exit.transition).toMatchObject({ type: "tween", duration: exitMilliseconds / 1000 });
      expect(exitMilliseconds).toBeLessThan(200);
    },
  );
});

it("layoutMotion takes 250 ms and does not overshoot", () => {
  expect(layoutBlockMilliseconds).toBe(250);
  expect(layoutMotion).toEqual({ type: "spring", visualDuration: 0.25, bounce: 0 });
});
