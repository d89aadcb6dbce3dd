import { emptyDraft, getPassword, toShareRequest, ShareDraft } from "./share-draft.ts";
import { createOpenerHandle } from "@relicario/shared/testing";

const opener = createOpenerHandle(new Blob(["garden"]));
const completeDraft = { ...emptyDraft(), proposedPassword: "four plain short words", opener };
const listProblems = (overrides: Partial<ShareDraft>) => {
  const { success, error } = ShareDraft.safeParse({ ...completeDraft, ...overrides });
  return success ? [] : error.issues.map(({ message }) => message);
};

describe("ShareDraft", () => {
  it("takes a link with the proposed password as it is", () => {
    expect(listProblems({})).toEqual([]);
  });

  it.each([
    ["no picture of one's own", { opener: null }, ["opener_missing"]],
    ["a person that was not found yet", { audience: "person" }, ["person_missing"]],
    ["an empty password", { passwordChoice: "own" }, ["password_missing"]],
    ["half a surrogate pair", { passwordChoice: "own", ownPassword: "\ud800" }, ["password_broken"]],
    ["a picture that is asked for and not chosen", { requiresPicture: true }, ["picture_missing"]],
    ["no number of views", { views: "other", otherViews: "" }, ["views_wrong"]],
  ] as const)("refuses %s", (_, overrides, expected) => {
    expect(listProblems(overrides)).toEqual(expected);
  });

  it("keeps a password as it was typed, white space too", () => {
    expect(getPassword({ audience: "public", passwordChoice: "own", proposedPassword: "", ownPassword: " a b " })).toBe(
      " a b ",
    );
  });

  it("has no password for a person, whatever was chosen before", () => {
    expect(
      getPassword({ audience: "person", passwordChoice: "own", proposedPassword: "", ownPassword: "x" }),
    ).toBeNull();
  });
});

describe("requestOf", () => {
  it("counts the lifetime from now", () => {
    const now = Date.parse("2026-11-22T10:00:00.000Z");
    expect(toShareRequest({ ...completeDraft, lifetime: "hour" }, "id", now)?.expiresAt).toBe(
      "2026-11-22T11:00:00.000Z",
    );
    expect(toShareRequest({ ...completeDraft, lifetime: "month" }, "id", now)?.expiresAt).toBe(
      "2026-12-22T10:00:00.000Z",
    );
  });

  it("leaves out a picture that was chosen and is not asked for any more", () => {
    expect(toShareRequest({ ...completeDraft, picture: opener }, "id", 0)?.picture).toBeNull();
  });
});
