import { fetchAhead } from "./fetch-ahead.ts";

describe("fetchAhead", () => {
  let page: HTMLElement;

  beforeEach(() => {
    jest.useFakeTimers();
    page = document.createElement("div");
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const settle = async () => {
    await Promise.resolve(); // changes of the page are told after what made them
    await jest.advanceTimersByTimeAsync(1_000);
  };

  it("waits for the first screen, and fetches once", async () => {
    const load = jest.fn(() => Promise.resolve());
    fetchAhead(page, [load]);
    page.innerHTML = "<div role='status' aria-busy='true'></div>";
    await settle();
    expect(load).not.toHaveBeenCalled();

    page.innerHTML = "<h1>Home</h1>";
    await settle();
    page.innerHTML = "<h1>Secrets</h1>";
    await settle();
    expect(load).toHaveBeenCalledTimes(1);
  });

  it("fetches the rest when one part does not come", async () => {
    const load = jest.fn(() => Promise.resolve());
    page.innerHTML = "<h1>Home</h1>";
    fetchAhead(page, [() => Promise.reject(new Error("chunk")), load]);
    await settle();
    expect(load).toHaveBeenCalledTimes(1);
  });

  it("fetches nothing after its undo", async () => {
    const load = jest.fn(() => Promise.resolve());
    page.innerHTML = "<h1>Home</h1>";
    fetchAhead(page, [load])();
    await settle();
    expect(load).not.toHaveBeenCalled();
  });
});
