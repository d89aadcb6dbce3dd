import type { PictureVerdict } from "@relicario/vault";

import {
  imageOf,
  noPicture,
  passphraseNeed,
  shownPictureOf,
  type PictureDraft,
  type PictureStanding,
} from "./picture-draft.ts";

const picture = new Blob(["garden"]);
const green: PictureVerdict = { level: "green", reasons: [], width: 4000, height: 3000, known: null };
const image = { id: "id-1", name: "Garden", createdAt: "2026-11-01T09:00:00.000Z" };
const examined = (change: Partial<PictureVerdict> = {}): PictureStanding => ({
  status: "examined",
  picture,
  verdict: { ...green, ...change },
});
const draft = (standing: PictureStanding, change: Partial<PictureDraft> = {}): PictureDraft => ({
  ...noPicture,
  standing,
  ...change,
});

describe("passphraseNeed", () => {
  it.each<[string, PictureStanding, string]>([
    ["a green picture", examined(), "asked"],
    ["an amber picture", examined({ level: "amber" }), "required"],
    ["a red picture", examined({ level: "red" }), "none"],
    ["an image in use without a passphrase", examined({ known: { kind: "same", image, passphrase: "none" } }), "none"],
    ["an image in use with a passphrase", examined({ known: { kind: "same", image, passphrase: "needed" } }), "own"],
    ["a small copy of one", examined({ level: "red", known: { kind: "same", image, passphrase: "needed" } }), "own"],
    ["an image that was removed", examined({ known: { kind: "removed" } }), "asked"],
    ["an amber one that was removed", examined({ level: "amber", known: { kind: "removed" } }), "required"],
    ["a small copy of one that was removed", examined({ level: "red", known: { kind: "removed" } }), "required"],
    ["a picture shown for opening", { status: "shown", picture }, "optional"],
    ["the picture of a share", { status: "of_share", picture }, "never"],
    ["no picture", { status: "none" }, "none"],
  ])("of %s", (_what, standing, need) => {
    expect(passphraseNeed(standing)).toBe(need);
  });
});

describe("shownPictureOf", () => {
  it("takes the picture of a share without a passphrase, whatever was typed before", () => {
    expect(shownPictureOf(draft({ status: "of_share", picture }, { passphrase: "four words" }))).toEqual({
      picture,
      passphrase: null,
    });
  });

  it("takes a passphrase exactly as typed", () => {
    expect(shownPictureOf(draft(examined(), { passphrase: "  Zwei  ", again: "  Zwei  " }))).toEqual({
      picture,
      passphrase: "  Zwei  ",
    });
    expect(shownPictureOf(draft({ status: "shown", picture }, { passphrase: " a " }))).toEqual({
      picture,
      passphrase: " a ",
    });
  });

  it("takes a green picture without a passphrase only when the person says so", () => {
    expect(shownPictureOf(draft(examined()))).toBeNull();
    expect(shownPictureOf(draft(examined(), { without: true }))).toEqual({ picture, passphrase: null });
  });

  it("never takes an amber picture without a passphrase", () => {
    expect(shownPictureOf(draft(examined({ level: "amber" }), { without: true }))).toBeNull();
    expect(shownPictureOf(draft(examined({ level: "amber" }), { passphrase: "a", again: "a" }))).toEqual({
      picture,
      passphrase: "a",
    });
  });

  it.each<[string, PictureDraft]>([
    ["a red picture", draft(examined({ level: "red" }), { passphrase: "a", again: "a", without: true })],
    ["a changed copy of an image in use", draft(examined({ known: { kind: "resembles", image } }), { without: true })],
    ["two different passphrases", draft(examined(), { passphrase: "a", again: "A" })],
    ["a picture still being looked at", draft({ status: "examining", picture }, { without: true })],
    ["a file that failed", draft({ status: "failed", error: null }, { without: true })],
  ])("takes nothing of %s", (_what, given) => {
    expect(shownPictureOf(given)).toBeNull();
  });

  it("uses an image again with its own passphrase, never with one that was chosen for another picture", () => {
    const chosen = { passphrase: "of another picture", again: "of another picture" };
    const needed = examined({ known: { kind: "same", image, passphrase: "needed" } });
    expect(shownPictureOf(draft(needed, chosen))).toBeNull();
    expect(shownPictureOf(draft(needed, { ...chosen, own: " its own " }))).toEqual({
      picture,
      passphrase: " its own ",
    });
    expect(
      shownPictureOf(draft(examined({ known: { kind: "same", image, passphrase: "none" } }), { ...chosen, own: "b" })),
    ).toEqual({ picture, passphrase: null });
  });

  it("takes an image that was removed as a new one", () => {
    const removed = examined({ known: { kind: "removed" } });
    expect(shownPictureOf(draft(removed))).toBeNull();
    expect(shownPictureOf(draft(removed, { passphrase: "a", again: "a" }))).toEqual({ picture, passphrase: "a" });
    expect(imageOf(removed)).toBeNull();
  });

  it("shows an empty passphrase as none", () => {
    expect(shownPictureOf(draft({ status: "shown", picture }))).toEqual({ picture, passphrase: null });
  });
});
