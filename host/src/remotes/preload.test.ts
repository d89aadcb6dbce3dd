import { fakeHost } from "../testing/fake-host.tsx";
import { mayUseVault, preloadPlace } from "./preload.ts";

const { places, verified } = fakeHost().host;

describe("preloadPlace", () => {
  it.each([
    ["/secrets", "secrets", "/secrets"],
    ["/shared/abc", "sharing", "/shared/:shareId"],
    ["/", "secrets", "/home"],
    ["/settings", "settings", "/settings/*"],
  ])("for %s loads %s ahead, with the page at %s", (path, remote, pattern) => {
    const prefetch = jest.fn();
    preloadPlace(places, path, { prefetch });
    expect(prefetch).toHaveBeenCalledTimes(1);
    expect(prefetch).toHaveBeenCalledWith(remote, pattern);
  });

  it("loads nothing for a screen of the host's own", () => {
    const prefetch = jest.fn();
    preloadPlace(places, "/status", { prefetch });
    expect(prefetch).not.toHaveBeenCalled();
  });
});

describe("mayUseVault", () => {
  it.each([
    ["/secrets", true],
    ["/", true],
    ["/settings/profile", false],
    ["/status", false],
  ])("at %s is %s", (path, expected) => {
    expect(mayUseVault(places, path, verified.remotes)).toBe(expected);
  });

  it("is not said of a remote that was refused", () => {
    const { host } = fakeHost({ refused: ["secrets"] });
    expect(mayUseVault(host.places, "/secrets", host.verified.remotes)).toBe(false);
  });
});
