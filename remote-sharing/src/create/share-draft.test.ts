import { emptyDraft, passwordOf, requestOf, ShareDraft, viewsOf } from "./share-draft.ts";
import { shownImage } from "@relicario/shared/testing";

const opener = shownImage(new Blob(["garden"]));
const whole = { ...emptyDraft(), proposed: "four plain short words", opener };
const problemsOf = (change: Partial<ShareDraft>) => {
  const { success, error } = ShareDraft.safeParse({ ...whole, ...change });
  return success ? [] : error.issues.map(({ message }) => message);
};

describe("ShareDraft", () => {
  it("takes a link with the proposed password as it is", () => {
    expect(problemsOf({})).toEqual([]);
  });

  it.each([
    ["no picture of one's own", { opener: null }, ["opener_missing"]],
    ["a person that was not found yet", { audience: "person" }, ["person_missing"]],
    ["an empty password", { password: "own" }, ["password_missing"]],
    ["half a surrogate pair", { password: "own", own: "\ud800" }, ["password_broken"]],
    ["a picture that is asked for and not chosen", { asksPicture: true }, ["picture_missing"]],
    ["no number of views", { views: "other", otherViews: "" }, ["views_wrong"]],
  ] as const)("refuses %s", (_, change, expected) => {
    expect(problemsOf(change)).toEqual(expected);
  });

  it("keeps a password as it was typed, white space too", () => {
    expect(passwordOf({ audience: "public", password: "own", proposed: "", own: " a b " })).toBe(" a b ");
  });

  it("has no password for a person, whatever was chosen before", () => {
    expect(passwordOf({ audience: "person", password: "own", proposed: "", own: "x" })).toBeNull();
  });
});

describe("viewsOf", () => {
  it.each([
    ["1", "", 1],
    ["any", "", null],
    ["other", " 25 ", 25],
    ["other", "0", "wrong"],
    ["other", "1.5", "wrong"],
    ["other", "1001", "wrong"],
    ["other", "ten", "wrong"],
  ] as const)("%s, %j: %s", (choice, other, expected) => {
    expect(viewsOf(choice, other)).toBe(expected);
  });
});

describe("requestOf", () => {
  it("counts the lifetime from now", () => {
    const now = Date.parse("2026-11-22T10:00:00.000Z");
    expect(requestOf({ ...whole, lifetime: "hour" }, "id", now)?.expiresAt).toBe("2026-11-22T11:00:00.000Z");
    expect(requestOf({ ...whole, lifetime: "month" }, "id", now)?.expiresAt).toBe("2026-12-22T10:00:00.000Z");
  });

  it("leaves out a picture that was chosen and is not asked for any more", () => {
    expect(requestOf({ ...whole, picture: opener }, "id", 0)?.picture).toBeNull();
  });
});
