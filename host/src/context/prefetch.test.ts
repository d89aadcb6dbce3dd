import { createFakeHost } from "../testing/fake-host.tsx";
import { mayUseVault, prefetchRoute } from "./prefetch.ts";

const { routes, verifiedDeployment } = createFakeHost().host;

describe("prefetchRoute", () => {
  it.each([
    ["/secrets", "secrets", "/secrets"],
    ["/shared/abc", "sharing", "/shared/:shareId"],
    ["/", "secrets", "/home"],
    ["/settings", "settings", "/settings/*"],
  ])("prefetches for the path %s the remote %s with the page of %s", (path, remote, pattern) => {
    const prefetch = jest.fn();
    prefetchRoute(routes, path, { prefetch });
    expect(prefetch).toHaveBeenCalledTimes(1);
    expect(prefetch).toHaveBeenCalledWith(remote, pattern);
  });

  it("prefetches nothing for the host's own screens", () => {
    const prefetch = jest.fn();
    prefetchRoute(routes, "/status", { prefetch });
    expect(prefetch).not.toHaveBeenCalled();
  });
});

describe("mayUseVault returns", () => {
  it.each([
    ["/secrets", true],
    ["/", true],
    ["/settings/profile", true],
    ["/status", false],
  ])("for the path %s: %s", (path, expected) => {
    expect(mayUseVault(routes, path, verifiedDeployment.remotes)).toBe(expected);
  });

  it("false for a remote whose manifest lacks the capability", () => {
    const settings = verifiedDeployment.remotes.get("settings");
    if (settings?.status !== "verified") throw new Error("settings was refused");
    const { record } = settings;
    const withoutVault = {
      ...settings,
      record: { ...record, manifest: { ...record.manifest, capabilities: ["http" as const] } },
    };
    expect(mayUseVault(routes, "/settings/profile", new Map([["settings", withoutVault]]))).toBe(false);
  });

  it("false for a refused remote", () => {
    const { host } = createFakeHost({ refusedRemotes: ["secrets"] });
    expect(mayUseVault(host.routes, "/secrets", host.verifiedDeployment.remotes)).toBe(false);
  });
});
