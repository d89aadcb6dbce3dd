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

describe("the spring of modals", () => {
  it("has the specification's stiffness and damping", () => {
    expect(spring).toEqual({ type: "spring", stiffness: 400, damping: 17 });
  });

  it.each(Object.entries({ dialogMotion, panelMotion, toastMotion, slideMotion }))(
    "is what %s comes by",
    (_, { variants }) => {
      expect(variants.visible.transition).toBe(spring);
    },
  );
});

describe("what comes", () => {
  it.each(Object.entries({ dialogMotion, panelMotion, toastMotion }))(
    "can be read from its first moment on: %s",
    (_, { variants }) => {
      expect(variants.hidden).not.toHaveProperty("opacity");
    },
  );

  it("comes as a slide from the side that somebody goes to", () => {
    expect(slideMotion.variants.hidden(1).x).toBeGreaterThan(0);
    expect(slideMotion.variants.hidden(-1).x).toBe(-slideMotion.variants.hidden(1).x);
    expect(slideMotion.variants.exit(1).x).toBe(slideMotion.variants.hidden(-1).x);
  });
});

describe("what goes", () => {
  it.each(Object.entries({ shadeMotion: backdropMotion, panelMotion, toastMotion }))(
    "does so quickly, and without a swing: %s",
    (_, { variants }) => {
      expect(variants.exit.transition).toMatchObject({ type: "tween", duration: exitMilliseconds / 1000 });
      expect(exitMilliseconds).toBeLessThan(200);
    },
  );
});

it("a change of layout takes its 250 ms and does not swing over", () => {
  expect(layoutBlockMilliseconds).toBe(250);
  expect(layoutMotion).toEqual({ type: "spring", visualDuration: 0.25, bounce: 0 });
});
