import { createHeldOpeners, type HeldInput } from "./held-openers.ts";

const picture = new Blob(["garden"]);
const presented: HeldInput = { opener: { picture, passphrase: "four words" }, draft: { step: 1 } };
const newPassphrase: HeldInput = { opener: { kind: "new_passphrase", passphrase: "nine stones" }, draft: null };

describe("held openers", () => {
  it("returns the opener and the draft of an id until it is released", () => {
    const held = createHeldOpeners(() => undefined);
    const id = held.hold(presented);
    expect(held.requireAll([["handle", id]])).toEqual([["handle", presented.opener]]);
    expect(held.getDraft(id)).toEqual({ step: 1 });
    held.release(id);
    expect(() => held.requireAll([["handle", id]])).toThrow("picture_needed");
    expect(held.getDraft(id)).toBeNull();
  });

  it("replaces what is held under an id", () => {
    const held = createHeldOpeners(() => undefined);
    const id = held.hold(presented);
    const opener = { picture, passphrase: "four words more" };
    expect(held.hold({ opener, draft: null }, id)).toBe(id);
    expect(held.requireAll([["handle", id]])).toEqual([["handle", opener]]);
    expect(held.getDraft(id)).toBeNull();
  });

  it("releases everything on a lock, and tells the elements", () => {
    const onReleaseAll = jest.fn();
    const held = createHeldOpeners(onReleaseAll);
    const ids = [held.hold(presented), held.hold(newPassphrase)];
    held.releaseAll();
    expect(onReleaseAll).toHaveBeenCalledTimes(1);
    for (const id of ids) expect(() => held.requireAll([["handle", id]])).toThrow("picture_needed");
  });

  it("refuses an id that it did not give, and incomplete input", () => {
    const held = createHeldOpeners(() => undefined);
    const incompleteId = held.hold({ opener: null, draft: { step: 1 } });
    for (const id of [crypto.randomUUID(), incompleteId])
      expect(() => held.requireAll([["handle", id]])).toThrow("picture_needed");
  });

  it("applies a new passphrase to the picture of the same call only", () => {
    const held = createHeldOpeners(() => undefined);
    const [pictureId, passphraseId] = [held.hold(presented), held.hold(newPassphrase)];
    expect(
      held.requireAll([
        ["current", pictureId],
        ["replacement", passphraseId],
      ]),
    ).toEqual([
      ["current", presented.opener],
      ["replacement", { picture, passphrase: "nine stones" }],
    ]);
    expect(() => held.requireAll([["replacement", passphraseId]])).toThrow("picture_needed");
  });
});
