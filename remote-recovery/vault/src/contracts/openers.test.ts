import "fake-indexeddb/auto";

import { replaceImage } from "../operations/replace-image.ts";
import { resealForAllOpeners } from "../operations/reseal-for-all-openers.ts";
import { addOpener, listOpeners } from "../operations/openers.ts";
import { protect } from "../operations/protect.ts";
import { openSmallSecret } from "../operations/open-secret.ts";
import { setDeviceKind } from "../operations/set-device-kind.ts";
import { unlock } from "../openers/unlock.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";
import { makePicture, textSecret } from "../testing/world.ts";
import type { VaultSession } from "../session/vault-session.ts";
import type { ServicePerson } from "./service-world.ts";
import {
  errorWithCode,
  makePasskey,
  decodeContent,
  createPrintedCode,
  listTitles,
  withServiceWorld,
} from "./service-harness.ts";

const world = withServiceWorld();

interface Scenario {
  readonly person: ServicePerson;
  readonly laptop: VaultSession;
  readonly firstId: string;
}

/** Creates an account on the user's own laptop, with one secret protected by a picture. */
async function createFirstSecret(passphrase: string | null = null): Promise<Scenario> {
  const person = await world().signUp();
  const laptop = await person.open();
  const { secretId: firstId } = await protect(laptop, textSecret("First", makePicture("market", passphrase)), {});
  await setDeviceKind(laptop, "own");
  return { person, laptop, firstId };
}

async function expectOpensBoth(
  vault: VaultSession,
  [firstId, secondId]: readonly [string, string],
  opener: PresentedOpener,
): Promise<void> {
  expect(await listTitles(vault)).toEqual(["First", "Second"]);
  expect(decodeContent(await openSmallSecret(vault, firstId, opener, {}))).toBe("content of First");
  expect(decodeContent(await openSmallSecret(vault, secondId, opener, {}))).toBe("content of Second");
}

async function openUnlocked(
  person: ServicePerson,
  device: string,
  opener: PresentedOpener,
  options = {},
): Promise<VaultSession> {
  const vault = await person.open(device, options);
  (await unlock(vault, opener, {})).opener.wipe();
  return vault;
}

describe("any remaining opener", () => {
  it("opens the list and every secret: a passkey, the picture, a recovery code", async () => {
    const { person, laptop, firstId } = await createFirstSecret();
    await addOpener(laptop, { key: makePasskey(), name: "Laptop" }, makePicture("market"), {});
    const printedCode = await createPrintedCode();
    await addOpener(laptop, { key: printedCode, name: "Paper" }, makePicture("market"), {});
    expect((await listOpeners(laptop)).secrets.map(({ missingOpenerIds }) => missingOpenerIds.length)).toEqual([2]);
    expect(await resealForAllOpeners(laptop, makePicture("market"), {})).toEqual({ resealedCount: 1, skippedIds: [] });
    const { secretId: secondId } = await protect(laptop, textSecret("Second"), {});
    expect((await listOpeners(laptop)).secrets.map(({ missingOpenerIds }) => missingOpenerIds.length)).toEqual([0, 0]);

    // Every picture is lost and the device is locked, so the passkey must open everything.
    const lockedVault = await person.open("laptop", { locked: true });
    expect(await listTitles(lockedVault)).toEqual([undefined, undefined]);
    (await unlock(lockedVault, makePasskey(), {})).opener.wipe();
    await expectOpensBoth(lockedVault, [firstId, secondId], makePasskey());
    // The passkey is lost, so the picture must open everything.
    await expectOpensBoth(lockedVault, [firstId, secondId], makePicture("market"));
    // Both are lost, so the recovery code must open everything, in a browser without stored data.
    const otherVault = await person.open("library");
    await expect(
      unlock(otherVault, { kind: "recovery_code", code: printedCode.code.replace(/^\w+/, "zebra") }, {}),
    ).rejects.toMatchObject({
      code: expect.stringMatching(/^(recovery_code_unreadable|not_this_recovery_code)$/) as string,
    });
    (await unlock(otherVault, printedCode, {})).opener.wipe();
    await setDeviceKind(otherVault, "own");
    await expectOpensBoth(otherVault, [firstId, secondId], printedCode);
  });

  it("cannot be a passkey without PRF, which is refused", async () => {
    const { person, laptop } = await createFirstSecret();
    await expect(
      addOpener(laptop, { key: makePasskey(7, 16), name: "Old phone" }, makePicture("market"), {}),
    ).rejects.toEqual(errorWithCode("passkey_without_prf"));
    expect((await listOpeners(laptop)).openers).toHaveLength(1);
    expect((await (await person.open("phone")).service.getKeyring(null))?.slots).toHaveLength(1);
  });
});

describe("a new passphrase, then another picture", () => {
  it("open everything; the former passphrase and picture open nothing on any device", async () => {
    const { person, laptop, firstId } = await createFirstSecret("nine stones");
    const { secretId: secondId } = await protect(laptop, textSecret("Second"), {});
    const [original, withNewPassphrase, otherPicture] = [
      makePicture("market", "nine stones"),
      makePicture("market", "ten stones"),
      makePicture("friends", "four words"),
    ];
    const wrongPicture = errorWithCode("not_this_picture_or_passphrase");

    await expect(
      replaceImage(laptop, withNewPassphrase, { presentedPicture: withNewPassphrase, name: "The market" }, {}),
    ).rejects.toEqual(wrongPicture);
    const { openerId } = await replaceImage(
      laptop,
      original,
      { presentedPicture: withNewPassphrase, name: "The market" },
      {},
    );
    expect((await listOpeners(laptop)).openers).toMatchObject([{ id: openerId, name: "The market", secretCount: 2 }]);
    await expect(openSmallSecret(laptop, firstId, original, {})).rejects.toEqual(wrongPicture);
    await expectOpensBoth(laptop, [firstId, secondId], withNewPassphrase);
    await expect(openUnlocked(person, "phone", original)).rejects.toEqual(wrongPicture);
    await expectOpensBoth(
      await openUnlocked(person, "phone", withNewPassphrase),
      [firstId, secondId],
      withNewPassphrase,
    );

    await replaceImage(laptop, withNewPassphrase, { presentedPicture: otherPicture, name: "The friends" }, {});
    expect((await listOpeners(laptop)).openers.map(({ name }) => name)).toEqual(["The friends"]);
    await expect(openSmallSecret(laptop, secondId, withNewPassphrase, {})).rejects.toEqual(wrongPicture);
    await expectOpensBoth(laptop, [firstId, secondId], otherPicture);
    await expect(openUnlocked(person, "tablet", withNewPassphrase)).rejects.toEqual(wrongPicture);
    await expectOpensBoth(await openUnlocked(person, "tablet", otherPicture), [firstId, secondId], otherPicture);
  });
});
