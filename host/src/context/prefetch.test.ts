import { createFakeHost } from "../testing/fake-host.tsx";
import { mayUseVault, prefetchRoute } from "./prefetch.ts";

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
