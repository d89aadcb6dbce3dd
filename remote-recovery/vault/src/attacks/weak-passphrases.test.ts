import "fake-indexeddb/auto";

import { chosenStrength, estimateStrength, requiredStrength } from "@relicario/shared/contract";

import { protect } from "../operations/protect.ts";
import { replaceImage } from "../operations/replace-image.ts";
import { createSharingWorld } from "../testing/sharing-world.ts";
import { createWorld, makePicture, textSecret } from "../testing/world.ts";

const tooWeak = (least: number) => ({ code: "passphrase_too_weak", details: { least } });

/* The forms judge with the same function; these pages call the vault without a form. */
describe("a page that passes a passphrase that is easy to guess", () => {
  it.each(["a", " ", "phrase", "ten stones"])(
    "cannot protect with a picture that needs one: “%s”",
    async (passphrase) => {
      const world = createWorld();
      const laptop = await world.open();
      await expect(
        protect(laptop, textSecret("First", makePicture("pale-sand", passphrase)), {}),
      ).rejects.toMatchObject(tooWeak(requiredStrength));
      expect(world.service.account.keyring).toBeNull();
    },
  );

  it("protects with a good picture only above the lower level", async () => {
    const laptop = await createWorld().open();
    await expect(protect(laptop, textSecret("First", makePicture("market", "a")), {})).rejects.toMatchObject(
      tooWeak(chosenStrength),
    );
    expect(await estimateStrength("ten stones")).toBe(chosenStrength);
    await protect(laptop, textSecret("First", makePicture("market", "ten stones")), {});
  });

  it("cannot replace the passphrase of a picture by it", async () => {
    const laptop = await createWorld().open();
    await protect(laptop, textSecret("First", makePicture("market", "nine stones")), {});
    await expect(
      replaceImage(
        laptop,
        makePicture("market", "nine stones"),
        { presentedPicture: makePicture("market", "a"), name: "The market" },
        {},
      ),
    ).rejects.toMatchObject(tooWeak(chosenStrength));
  });

  it("cannot create a link with such a password", async () => {
    const world = await createSharingWorld();
    await expect(world.share({ password: "ten stones" })).rejects.toMatchObject(tooWeak(requiredStrength));
    expect(world.sharing.shares.size).toBe(0);
    await world.share({ password: "nine stones" });
  });
});
