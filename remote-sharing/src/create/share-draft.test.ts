import { emptyDraft, getPassword, toShareRequest, ShareDraft } from "./share-draft.ts";
import { createOpenerHandle } from "@relicario/shared/testing";

const opener = createOpenerHandle(new Blob(["garden"]));
const completeDraft = { ...emptyDraft(), proposedPassword: "four plain short words" };
const listProblems = (overrides: Partial<ShareDraft>) => {
  const { success, error } = ShareDraft.safeParse({ ...completeDraft, ...overrides });
  return success ? [] : error.issues.map(({ message }) => message);
};

describe("ShareDraft", () => {
  it("accepts a link with the proposed password", () => {
    expect(listProblems({})).toEqual([]);
  });

  it.each([
    ["a person that was not found yet", { audience: "person" }, ["person_missing"]],
    ["an empty password", { passwordChoice: "own" }, ["password_missing"]],
    ["half a surrogate pair", { passwordChoice: "own", ownPassword: "\ud800" }, ["password_broken"]],
    ["a picture that is asked for and not chosen", { requiresPicture: true }, ["picture_missing"]],
    ["no number of views", { views: "other", otherViews: "" }, ["views_wrong"]],
  ] as const)("refuses %s", (_, overrides, expected) => {
    expect(listProblems(overrides)).toEqual(expected);
  });

  it("keeps a password as typed, including white space", () => {
    expect(getPassword({ audience: "public", passwordChoice: "own", proposedPassword: "", ownPassword: " a b " })).toBe(
      " a b ",
    );
  });

  it("drops the password for a person", () => {
    expect(
      getPassword({ audience: "person", passwordChoice: "own", proposedPassword: "", ownPassword: "x" }),
    ).toBeNull();
  });
});

describe("toShareRequest", () => {
  it("computes the expiry from now and the lifetime", () => {
    const now = Date.parse("2026-11-22T10:00:00.000Z");
    expect(toShareRequest({ ...completeDraft, lifetime: "hour" }, "id", now)?.expiresAt).toBe(
      "2026-11-22T11:00:00.000Z",
    );
    expect(toShareRequest({ ...completeDraft, lifetime: "month" }, "id", now)?.expiresAt).toBe(
      "2026-12-22T10:00:00.000Z",
    );
  });

  it("drops a chosen picture that is no longer required", () => {
    expect(toShareRequest({ ...completeDraft, picture: opener }, "id", 0)?.picture).toBeNull();
  });
});
