import { watchLeaks } from "./leaks.ts";

describe("watchLeaks", () => {
  it("counts what was attached and not taken away", () => {
    const watch = watchLeaks();
    const before = watch.count();
    const listener = () => undefined;
    window.addEventListener("resize", listener);
    document.addEventListener("keydown", listener, true);
    const timer = window.setInterval(listener, 1000);
    document.body.append(document.createElement("div"));
    expect(watch.count()).toEqual({ listeners: before.listeners + 2, intervals: before.intervals + 1, nodes: before.nodes + 1 });
    window.removeEventListener("resize", listener);
    document.removeEventListener("keydown", listener, true);
    window.clearInterval(timer);
    document.body.lastElementChild?.remove();
    expect(watch.count()).toEqual(before);
    watch.stop();
  });
});
