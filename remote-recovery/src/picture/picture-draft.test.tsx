import type { PictureVerdict } from "@relicario/shared/contract";

import { passphraseNeed, shownImageOf, type PictureDraft, type PictureStanding } from "./picture-draft.ts";

const picture = new Blob(["garden"]);
const green: PictureVerdict = { level: "green", reasons: [], width: 4000, height: 3000, known: null };
const image = { id: "id-1", name: "Garden", createdAt: "2026-11-01T09:00:00.000Z" };
const examined = (change: Partial<PictureVerdict> = {}): PictureStanding => ({ status: "examined", picture, verdict: { ...green, ...change } });
const draft = (standing: PictureStanding, change: Partial<PictureDraft> = {}): PictureDraft => ({ standing, passphrase: "", again: "", without: false, ...change });

describe("passphraseNeed", () => {
  it.each<[string, PictureStanding, string]>([
    ["a green picture", examined(), "asked"],
    ["an amber picture", examined({ level: "amber" }), "required"],
    ["a red picture", examined({ level: "red" }), "none"],
    ["an image in use", examined({ known: { kind: "same", image } }), "none"],
    ["a picture shown for opening", { status: "shown", picture }, "optional"],
    ["no picture", { status: "none" }, "none"],
  ])("of %s", (_what, standing, need) => {
    expect(passphraseNeed(standing)).toBe(need);
  });
});

describe("shownImageOf", () => {
  it("takes a passphrase exactly as typed", () => {
    expect(shownImageOf(draft(examined(), { passphrase: "  Zwei  ", again: "  Zwei  " }))).toEqual({ picture, passphrase: "  Zwei  " });
    expect(shownImageOf(draft({ status: "shown", picture }, { passphrase: " a " }))).toEqual({ picture, passphrase: " a " });
  });

  it("takes a green picture without a passphrase only when the person says so", () => {
    expect(shownImageOf(draft(examined()))).toBeNull();
    expect(shownImageOf(draft(examined(), { without: true }))).toEqual({ picture, passphrase: null });
  });

  it("never takes an amber picture without a passphrase", () => {
    expect(shownImageOf(draft(examined({ level: "amber" }), { without: true }))).toBeNull();
    expect(shownImageOf(draft(examined({ level: "amber" }), { passphrase: "a", again: "a" }))).toEqual({ picture, passphrase: "a" });
  });

  it.each<[string, PictureDraft]>([
    ["a red picture", draft(examined({ level: "red" }), { passphrase: "a", again: "a", without: true })],
    ["a changed copy of an image in use", draft(examined({ known: { kind: "resembles", image } }), { without: true })],
    ["two different passphrases", draft(examined(), { passphrase: "a", again: "A" })],
    ["a picture still being looked at", draft({ status: "examining", picture }, { without: true })],
    ["a file that failed", draft({ status: "failed", error: null }, { without: true })],
  ])("takes nothing of %s", (_what, given) => {
    expect(shownImageOf(given)).toBeNull();
  });

  it("uses an image again without a new passphrase", () => {
    expect(shownImageOf(draft(examined({ known: { kind: "same", image } })))).toEqual({ picture, passphrase: null });
  });

  it("shows an empty passphrase as none", () => {
    expect(shownImageOf(draft({ status: "shown", picture }))).toEqual({ picture, passphrase: null });
  });
});
