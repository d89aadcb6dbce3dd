import { mayUseVault, prefetchRoute, prefetchWhenIdle } from "./prefetch.ts";
import { createFakeHost } from "./testing/fake-host.tsx";

const { routes, verified } = createFakeHost().host;

describe("prefetchRoute", () => {
  it.each([
    ["/secrets", "secrets", "/secrets"],
    ["/shared/abc", "sharing", "/shared/:shareId"],
    ["/", "secrets", "/home"],
    ["/settings", "settings", "/settings/*"],
  ])("for %s loads %s ahead, with the page at %s", (path, remote, pattern) => {
    const prefetch = jest.fn();
    prefetchRoute(routes, path, { prefetch });
    expect(prefetch).toHaveBeenCalledTimes(1);
    expect(prefetch).toHaveBeenCalledWith(remote, pattern);
  });

  it("loads nothing for a screen of the host's own", () => {
    const prefetch = jest.fn();
    prefetchRoute(routes, "/status", { prefetch });
    expect(prefetch).not.toHaveBeenCalled();
  });
});

describe("mayUseVault", () => {
  it.each([
    ["/secrets", true],
    ["/", true],
    ["/settings/profile", true],
    ["/status", false],
  ])("at %s is %s", (path, expected) => {
    expect(mayUseVault(routes, path, verified.remotes)).toBe(expected);
  });

  it("is not said of a remote whose manifest does not name it", () => {
    const settings = verified.remotes.get("settings");
    if (settings?.status !== "verified") throw new Error("settings was refused");
    const { record } = settings;
    const withoutVault = {
      ...settings,
      record: { ...record, manifest: { ...record.manifest, capabilities: ["http" as const] } },
    };
    expect(mayUseVault(routes, "/settings/profile", new Map([["settings", withoutVault]]))).toBe(false);
  });

  it("is not said of a remote that was refused", () => {
    const { host } = createFakeHost({ refused: ["secrets"] });
    expect(mayUseVault(host.routes, "/secrets", host.verified.remotes)).toBe(false);
  });
});

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
