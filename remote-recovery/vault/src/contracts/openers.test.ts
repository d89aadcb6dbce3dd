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
  plainTextOf,
  createPrintedCode,
  listTitles,
  withServiceWorld,
} from "./service-harness.ts";

const world = withServiceWorld();

interface Scenario {
  readonly person: ServicePerson;
  readonly laptop: VaultSession;
  readonly first: string;
}

/** A person's own device with one secret, "First", behind a picture. */
async function createFirstSecret(passphrase: string | null = null): Promise<Scenario> {
  const person = await world().signUp();
  const laptop = await person.open();
  const { secretId: first } = await protect(laptop, textSecret("First", makePicture("market", passphrase)), {});
  await setDeviceKind(laptop, "own");
  return { person, laptop, first };
}

async function expectOpensBoth(
  vault: VaultSession,
  [first, second]: readonly [string, string],
  opener: PresentedOpener,
): Promise<void> {
  expect(await listTitles(vault)).toEqual(["First", "Second"]);
  expect(plainTextOf(await openSmallSecret(vault, first, opener, {}))).toBe("content of First");
  expect(plainTextOf(await openSmallSecret(vault, second, opener, {}))).toBe("content of Second");
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

describe("whatever is left", () => {
  it("opens the list and every secret that was sealed to it: a passkey, the picture, a recovery code", async () => {
    const { person, laptop, first } = await createFirstSecret();
    await addOpener(laptop, { key: makePasskey(), name: "Laptop" }, makePicture("market"), {});
    const printed = await createPrintedCode();
    await addOpener(laptop, { key: printed, name: "Paper" }, makePicture("market"), {});
    expect((await listOpeners(laptop)).secrets.map(({ missing }) => missing.length)).toEqual([2]);
    expect(await resealForAllOpeners(laptop, makePicture("market"), {})).toEqual({ resealed: 1, skipped: [] });
    const { secretId: second } = await protect(laptop, textSecret("Second"), {});
    expect((await listOpeners(laptop)).secrets.map(({ missing }) => missing.length)).toEqual([0, 0]);

    // Every picture is lost, and the device was locked: the passkey is left.
    const locked = await person.open("laptop", { locked: true });
    expect(await listTitles(locked)).toEqual([undefined, undefined]);
    (await unlock(locked, makePasskey(), {})).opener.wipe();
    await expectOpensBoth(locked, [first, second], makePasskey());
    // The passkey is lost: the picture is left.
    await expectOpensBoth(locked, [first, second], makePicture("market"));
    // Both are lost: the code is left, in a browser that knows nothing.
    const other = await person.open("library");
    await expect(
      unlock(other, { kind: "recovery_code", code: printed.code.replace(/^\w+/, "zebra") }, {}),
    ).rejects.toMatchObject({
      code: expect.stringMatching(/^(recovery_code_unreadable|not_this_recovery_code)$/) as string,
    });
    (await unlock(other, printed, {})).opener.wipe();
    await setDeviceKind(other, "own");
    await expectOpensBoth(other, [first, second], printed);
  });

  it("does not open by a passkey without PRF, which adds nothing", async () => {
    const { person, laptop } = await createFirstSecret();
    await expect(
      addOpener(laptop, { key: makePasskey(7, 16), name: "Old phone" }, makePicture("market"), {}),
    ).rejects.toEqual(errorWithCode("passkey_without_prf"));
    expect((await listOpeners(laptop)).openers).toHaveLength(1);
    expect((await (await person.open("phone")).service.getKeyring(null))?.slots).toHaveLength(1);
  });
});

describe("a passphrase, then another picture, in the place of one", () => {
  it("open everything; what opened before opens nothing, here and elsewhere", async () => {
    const { person, laptop, first } = await createFirstSecret("nine stones");
    const { secretId: second } = await protect(laptop, textSecret("Second"), {});
    const [before, after, third] = [
      makePicture("market", "nine stones"),
      makePicture("market", "ten stones"),
      makePicture("friends", "a boat"),
    ];
    const wrongPicture = errorWithCode("not_this_picture_or_passphrase");

    await expect(replaceImage(laptop, after, { presentedPicture: after, name: "The market" }, {})).rejects.toEqual(
      wrongPicture,
    );
    const { openerId } = await replaceImage(laptop, before, { presentedPicture: after, name: "The market" }, {});
    expect((await listOpeners(laptop)).openers).toMatchObject([{ id: openerId, name: "The market", secretCount: 2 }]);
    await expect(openSmallSecret(laptop, first, before, {})).rejects.toEqual(wrongPicture);
    await expectOpensBoth(laptop, [first, second], after);
    await expect(openUnlocked(person, "phone", before)).rejects.toEqual(wrongPicture);
    await expectOpensBoth(await openUnlocked(person, "phone", after), [first, second], after);

    await replaceImage(laptop, after, { presentedPicture: third, name: "The friends" }, {});
    expect((await listOpeners(laptop)).openers.map(({ name }) => name)).toEqual(["The friends"]);
    await expect(openSmallSecret(laptop, second, after, {})).rejects.toEqual(wrongPicture);
    await expectOpensBoth(laptop, [first, second], third);
    await expect(openUnlocked(person, "tablet", after)).rejects.toEqual(wrongPicture);
    await expectOpensBoth(await openUnlocked(person, "tablet", third), [first, second], third);
  });
});
