import { admit } from "./access.ts";
import { isSharedLinkView, placeOf, places, type Place } from "./places.ts";

describe("placeOf", () => {
  it.each([
    ["/home", "secrets"],
    ["/add-secret", "secrets"],
    ["/edit-secret/01890a5d-ac96-7000-8000-000000000001", "secrets"],
    ["/secrets", "secrets"],
    ["/secrets/", "secrets"],
    ["/user-secrets", "secrets"],
    ["/provide-image", "recovery"],
    ["/upload-image", "recovery"],
    ["/provide-image-recovery", "recovery"],
    ["/processing-recovery", "recovery"],
    ["/congrats-recover", "recovery"],
    ["/welcome-recovery", "recovery"],
    ["/welcome", "recovery"],
    ["/welcome-backup", "recovery"],
    ["/provide-secret", "recovery"],
    ["/processing", "recovery"],
    ["/safeguard", "recovery"],
    ["/congrats", "recovery"],
    ["/recived", "sharing"],
    ["/shared/x", "sharing"],
    ["/p-shared/x", "sharing"],
    ["/secret-landing", "sharing"],
    ["/settings/profile", "settings"],
    ["/settings/notifications", "settings"],
  ])("%s belongs to %s", (path, remote) => {
    expect(placeOf(path)).toMatchObject({ remote });
  });

  it.each([
    ["/", "/home"],
    ["/nothing/here", "/home"],
    ["/shared", "/home"],
    ["/settings", "/settings/profile"],
    ["/settings/", "/settings/profile"],
  ])("%s goes to %s", (path, redirect) => {
    expect(placeOf(path)).toEqual({ redirect });
  });

  it.each(["/provide-image", "/provide-image-recovery", "/secret-landing"])("%s stands without the shell", (path) => {
    expect(placeOf(path)).toMatchObject({ shell: false });
  });
});

describe("admit", () => {
  const place = (path: string): Place => {
    const found = placeOf(path);
    if ("redirect" in found) throw new Error(path);
    return found;
  };

  it.each([
    ["/secrets", false, false, "sign_in"],
    ["/secrets", true, false, "show"],
    ["/shared/x", false, false, "show"],
    ["/secret-landing", false, false, "show"],
    ["/p-shared/x", false, false, "landing"],
    ["/p-shared/x", false, true, "sign_in"],
    ["/p-shared/x", true, false, "show"],
  ] as const)("%s, signed in: %s, landing visited: %s: %s", (path, signedIn, landingVisited, expected) => {
    expect(admit(place(path), { signedIn, landingVisited })).toBe(expected);
  });

  it("shows a visitor who is not signed in shared links and the landing page, and nothing else", () => {
    const shown = places.filter((each) => admit(each, { signedIn: false, landingVisited: true }) === "show");
    expect(shown.map(({ pattern }) => pattern)).toEqual(["/shared/:shareId", "/secret-landing"]);
  });

  it("shows everything to somebody who is signed in", () => {
    for (const each of places) expect(admit(each, { signedIn: true, landingVisited: false })).toBe("show");
  });
});

describe("isSharedLinkView", () => {
  it.each([
    ["/shared/x", true],
    ["/p-shared/x", false],
    ["/recived", false],
  ])("%s: %s", (path, expected) => {
    expect(isSharedLinkView(path)).toBe(expected);
  });
});
