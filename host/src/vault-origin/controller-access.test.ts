import { findController, type ControllerAccess } from "./controller-access.ts";

const access: ControllerAccess = { connect: () => Promise.reject(new Error("not called")) };
/** A frame of another origin: each access throws. */
const foreignFrame = new Proxy(
  {},
  {
    get: () => {
      throw new DOMException("Blocked a frame", "SecurityError");
    },
  },
);

describe("findController", () => {
  it("finds the controller among frames of other origins and other documents of the vault", () => {
    expect(findController({ length: 3, 0: foreignFrame, 1: {}, 2: { relicarioController: access } })).toBe(access);
  });

  it.each([
    ["without frames", { length: 0 }],
    ["with frames of other origins only", { length: 2, 0: foreignFrame, 1: foreignFrame }],
  ])("finds none in a page %s", (_, framingWindow) => {
    expect(findController(framingWindow)).toBeNull();
  });
});
