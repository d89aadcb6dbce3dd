import { whenSettled } from "./when-settled.ts";

const quietMilliseconds = 300;

/** Advances timers, and lets mutation observers run. */
async function advance(milliseconds: number): Promise<void> {
  await jest.advanceTimersByTimeAsync(milliseconds);
}

describe("whenSettled", () => {
  beforeEach(() => {
    jest.useFakeTimers();
    document.body.innerHTML = "";
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const start = () => {
    const onSettled = jest.fn();
    const undo = whenSettled(document.body, () => document.querySelector("h1"), onSettled);
    return { onSettled, undo };
  };

  it("waits for the element, then until nothing has changed for 300 ms", async () => {
    const { onSettled } = start();
    await advance(1000);
    document.body.innerHTML = "<h1></h1>";
    await advance(quietMilliseconds - 1);
    document.body.append(document.createElement("p"));
    await advance(quietMilliseconds - 1);
    expect(onSettled).not.toHaveBeenCalled();
    await advance(1);
    expect(onSettled).toHaveBeenCalledTimes(1);
  });

  it("waits while any element has aria-busy", async () => {
    document.body.innerHTML = `<h1></h1><div aria-busy="true"></div>`;
    const { onSettled } = start();
    await advance(10 * quietMilliseconds);
    expect(onSettled).not.toHaveBeenCalled();
    document.querySelector("div")?.removeAttribute("aria-busy");
    await advance(quietMilliseconds);
    expect(onSettled).toHaveBeenCalledTimes(1);
  });

  it("does not call back once cancelled", async () => {
    document.body.innerHTML = "<h1></h1>";
    const { onSettled, undo } = start();
    undo();
    await advance(10 * quietMilliseconds);
    expect(onSettled).not.toHaveBeenCalled();
  });
});
