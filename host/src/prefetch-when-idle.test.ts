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
    await Promise.resolve(); // mutation observers run in a microtask
    await jest.advanceTimersByTimeAsync(1_000);
  };

  it("fetches once, after the first screen was drawn", async () => {
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

  it("fetches the remaining code when one import fails", async () => {
    const load = jest.fn(() => Promise.resolve());
    page.innerHTML = "<h1>Home</h1>";
    prefetchWhenIdle(page, [() => Promise.reject(new Error("chunk")), load]);
    await waitUntilIdle();
    expect(load).toHaveBeenCalledTimes(1);
  });

  it("fetches nothing once it is cancelled", async () => {
    const load = jest.fn(() => Promise.resolve());
    page.innerHTML = "<h1>Home</h1>";
    prefetchWhenIdle(page, [load])();
    await waitUntilIdle();
    expect(load).not.toHaveBeenCalled();
  });
});
