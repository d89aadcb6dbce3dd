import type { PictureVerdict } from "@relicario/vault/element";

import {
  getKnownImage,
  emptyPictureDraft,
  getPassphraseRequirement,
  toPresentedPicture,
  type PictureDraft,
  type PictureState,
} from "./picture-draft.ts";

const picture = new Blob(["garden"]);
const goodVerdict: PictureVerdict = { level: "green", reasons: [], width: 4000, height: 3000, known: null };
const image = { id: "id-1", name: "Garden", createdAt: "2026-11-01T09:00:00.000Z" };
const examinedState = (overrides: Partial<PictureVerdict> = {}): PictureState => ({
  status: "examined",
  picture,
  verdict: { ...goodVerdict, ...overrides },
});
const makeDraft = (state: PictureState, overrides: Partial<PictureDraft> = {}): PictureDraft => ({
  ...emptyPictureDraft,
  state,
  ...overrides,
});

describe("getPassphraseRequirement", () => {
  it.each<[string, PictureState, string]>([
    ["a green picture", examinedState(), "asked"],
    ["an amber picture", examinedState({ level: "amber" }), "required"],
    ["a red picture", examinedState({ level: "red" }), "none"],
    [
      "an image in use without a passphrase",
      examinedState({ known: { kind: "same", image, passphrase: "none" } }),
      "none",
    ],
    [
      "an image in use with a passphrase",
      examinedState({ known: { kind: "same", image, passphrase: "needed" } }),
      "own",
    ],
    [
      "a small copy of one",
      examinedState({ level: "red", known: { kind: "same", image, passphrase: "needed" } }),
      "own",
    ],
    ["an image that was removed", examinedState({ known: { kind: "removed" } }), "asked"],
    ["an amber one that was removed", examinedState({ level: "amber", known: { kind: "removed" } }), "required"],
    ["a small copy of one that was removed", examinedState({ level: "red", known: { kind: "removed" } }), "required"],
    ["a picture shown for opening", { status: "for_opening", picture }, "optional"],
    ["the picture of a share", { status: "for_share", picture }, "never"],
    ["no picture", { status: "none" }, "none"],
  ])("of %s", (_case, state, requirement) => {
    expect(getPassphraseRequirement(state)).toBe(requirement);
  });
});

describe("toPresentedPicture", () => {
  it("drops a typed passphrase for the picture of a share", () => {
    expect(toPresentedPicture(makeDraft({ status: "for_share", picture }, { passphrase: "four words" }))).toEqual({
      picture,
      passphrase: null,
    });
  });

  it("takes a passphrase exactly as typed", () => {
    expect(
      toPresentedPicture(makeDraft(examinedState(), { passphrase: "  Zwei  ", confirmation: "  Zwei  " })),
    ).toEqual({
      picture,
      passphrase: "  Zwei  ",
    });
    expect(toPresentedPicture(makeDraft({ status: "for_opening", picture }, { passphrase: " a " }))).toEqual({
      picture,
      passphrase: " a ",
    });
  });

  it("takes a good picture without a passphrase only on request", () => {
    expect(toPresentedPicture(makeDraft(examinedState()))).toBeNull();
    expect(toPresentedPicture(makeDraft(examinedState(), { withoutPassphrase: true }))).toEqual({
      picture,
      passphrase: null,
    });
  });

  it("never takes a marginal picture without a passphrase", () => {
    expect(toPresentedPicture(makeDraft(examinedState({ level: "amber" }), { withoutPassphrase: true }))).toBeNull();
    expect(
      toPresentedPicture(makeDraft(examinedState({ level: "amber" }), { passphrase: "a", confirmation: "a" })),
    ).toEqual({
      picture,
      passphrase: "a",
    });
  });

  it.each<[string, PictureDraft]>([
    [
      "a red picture",
      makeDraft(examinedState({ level: "red" }), { passphrase: "a", confirmation: "a", withoutPassphrase: true }),
    ],
    [
      "a changed copy of an image in use",
      makeDraft(examinedState({ known: { kind: "resembles", image } }), { withoutPassphrase: true }),
    ],
    ["two different passphrases", makeDraft(examinedState(), { passphrase: "a", confirmation: "A" })],
    ["a picture still being looked at", makeDraft({ status: "examining", picture }, { withoutPassphrase: true })],
    ["a file that failed", makeDraft({ status: "failed", error: null }, { withoutPassphrase: true })],
  ])("returns null for %s", (_case, candidate) => {
    expect(toPresentedPicture(candidate)).toBeNull();
  });

  it("uses an existing image's passphrase, never one chosen for another picture", () => {
    const otherPassphrase = { passphrase: "of another picture", confirmation: "of another picture" };
    const knownWithPassphrase = examinedState({ known: { kind: "same", image, passphrase: "needed" } });
    expect(toPresentedPicture(makeDraft(knownWithPassphrase, otherPassphrase))).toBeNull();
    expect(
      toPresentedPicture(makeDraft(knownWithPassphrase, { ...otherPassphrase, existingPassphrase: " its own " })),
    ).toEqual({
      picture,
      passphrase: " its own ",
    });
    expect(
      toPresentedPicture(
        makeDraft(examinedState({ known: { kind: "same", image, passphrase: "none" } }), {
          ...otherPassphrase,
          existingPassphrase: "b",
        }),
      ),
    ).toEqual({ picture, passphrase: null });
  });

  it("treats a removed image like a new one", () => {
    const removedState = examinedState({ known: { kind: "removed" } });
    expect(toPresentedPicture(makeDraft(removedState))).toBeNull();
    expect(toPresentedPicture(makeDraft(removedState, { passphrase: "a", confirmation: "a" }))).toEqual({
      picture,
      passphrase: "a",
    });
    expect(getKnownImage(removedState)).toBeNull();
  });

  it("treats an empty passphrase as none", () => {
    expect(toPresentedPicture(makeDraft({ status: "for_opening", picture }))).toEqual({ picture, passphrase: null });
  });
});
