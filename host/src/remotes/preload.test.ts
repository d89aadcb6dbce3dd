import { fakeHost } from "../testing/fake-host.tsx";
import { pathToShow, preloadPlace } from "./preload.ts";

const { places } = fakeHost().host;
const at = (path: string) => new URL(path, "https://portal.example");

describe("pathToShow", () => {
  beforeEach(() => {
    sessionStorage.clear();
    sessionStorage.setItem("oidc.s1", JSON.stringify({ id: "s1", data: { returnTo: "/edit-secret/1?x=1#y" } }));
  });

  it.each([
    ["/secrets?tag=a", "/secrets"],
    ["/?code=c&state=s1", "/edit-secret/1"],
    ["/#error=x&state=s1", "/edit-secret/1"],
    ["/?code=c&state=unknown", "/"],
  ])("of %s is %s", (address, expected) => {
    expect(pathToShow(at(address), sessionStorage)).toBe(expected);
  });

  it.each([JSON.stringify({ data: { returnTo: "https://elsewhere.example/" } }), "nonsense"])("takes %s for nothing", (kept) => {
    sessionStorage.setItem("oidc.s1", kept);
    expect(pathToShow(at("/?code=c&state=s1"), sessionStorage)).toBe("/");
  });
});

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
