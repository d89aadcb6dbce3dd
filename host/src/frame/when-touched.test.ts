import { whenTouched } from "./when-touched.ts";

describe("whenTouched", () => {
  const moved = () => new MouseEvent("pointermove");

  it.each(["pointerdown", "keydown"])("calls back once at the first %s", (type) => {
    const page = new EventTarget();
    const called = jest.fn();
    whenTouched(page, called);
    page.dispatchEvent(new Event(type));
    page.dispatchEvent(new Event(type));
    expect(called).toHaveBeenCalledTimes(1);
  });

  it("does not take a pointer that only rests for a person", () => {
    const page = new EventTarget();
    const called = jest.fn();
    whenTouched(page, called);
    page.dispatchEvent(Object.defineProperties(moved(), { movementX: { value: 0 }, movementY: { value: 0 } }));
    expect(called).not.toHaveBeenCalled();
    page.dispatchEvent(Object.defineProperties(moved(), { movementX: { value: 3 }, movementY: { value: 0 } }));
    expect(called).toHaveBeenCalledTimes(1);
  });

  it("calls nobody after its undo", () => {
    const page = new EventTarget();
    const called = jest.fn();
    whenTouched(page, called)();
    page.dispatchEvent(new Event("keydown"));
    expect(called).not.toHaveBeenCalled();
  });
});
