import { whenSettled } from "./when-settled.ts";

const quiet = 300;

/** What the observer saw is told in a microtask. */
async function pass(milliseconds: number): Promise<void> {
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

  const begin = () => {
    const onSettled = jest.fn();
    const undo = whenSettled(document.body, () => document.querySelector("h1"), onSettled);
    return { onSettled, undo };
  };

  it("waits for the element, then until nothing has changed for 300 ms", async () => {
    const { onSettled } = begin();
    await pass(1000);
    document.body.innerHTML = "<h1></h1>";
    await pass(quiet - 1);
    document.body.append(document.createElement("p"));
    await pass(quiet - 1);
    expect(onSettled).not.toHaveBeenCalled();
    await pass(1);
    expect(onSettled).toHaveBeenCalledTimes(1);
  });

  it("waits while something says that it is loading: what comes may be a target too", async () => {
    document.body.innerHTML = `<h1></h1><div aria-busy="true"></div>`;
    const { onSettled } = begin();
    await pass(10 * quiet);
    expect(onSettled).not.toHaveBeenCalled();
    document.querySelector("div")?.removeAttribute("aria-busy");
    await pass(quiet);
    expect(onSettled).toHaveBeenCalledTimes(1);
  });

  it("calls back no more once it is undone", async () => {
    document.body.innerHTML = "<h1></h1>";
    const { onSettled, undo } = begin();
    undo();
    await pass(10 * quiet);
    expect(onSettled).not.toHaveBeenCalled();
  });
});
