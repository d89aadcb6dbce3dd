import { prefetchWhenIdle } from "./prefetch-when-idle.ts";

describe("prefetchWhenIdle", () => {
  let page: HTMLElement;

  beforeEach(() => {
    jest.useFakeTimers();
    page = document.createElement("div");
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const waitUntilIdle = async () => {
    await Promise.resolve(); // changes of the page are told after what made them
    await jest.advanceTimersByTimeAsync(1_000);
  };

  it("waits for the first screen, and fetches once", async () => {
    const load = jest.fn(() => Promise.resolve());
    prefetchWhenIdle(page, [load]);
    page.innerHTML = "<div role='status' aria-busy='true'></div>";
    await waitUntilIdle();
    expect(load).not.toHaveBeenCalled();

    page.innerHTML = "<h1>Home</h1>";
    await waitUntilIdle();
    page.innerHTML = "<h1>Secrets</h1>";
    await waitUntilIdle();
    expect(load).toHaveBeenCalledTimes(1);
  });

  it("fetches the rest when one part does not come", async () => {
    const load = jest.fn(() => Promise.resolve());
    page.innerHTML = "<h1>Home</h1>";
    prefetchWhenIdle(page, [() => Promise.reject(new Error("chunk")), load]);
    await waitUntilIdle();
    expect(load).toHaveBeenCalledTimes(1);
  });

  it("fetches nothing after its undo", async () => {
    const load = jest.fn(() => Promise.resolve());
    page.innerHTML = "<h1>Home</h1>";
    prefetchWhenIdle(page, [load])();
    await waitUntilIdle();
    expect(load).not.toHaveBeenCalled();
  });
});
