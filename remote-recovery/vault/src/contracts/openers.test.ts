import "fake-indexeddb/auto";

import { changeImage } from "../acts/change-image.ts";
import { cover } from "../acts/cover.ts";
import { addOpener, listOpeners } from "../acts/openers.ts";
import { protect } from "../acts/protect.ts";
import { recover } from "../acts/recover.ts";
import { answerDevice, unlock } from "../acts/unlock.ts";
import type { Shown } from "../shown-image.ts";
import { shown, textSecret } from "../testing/world.ts";
import type { VaultContext } from "../vault-context.ts";
import type { PersonOfService } from "./service-world.ts";
import { code, passkey, plain, printedCode, titles, withServiceWorld } from "./story.ts";

const world = withServiceWorld();

interface Story {
  readonly person: PersonOfService;
  readonly laptop: VaultContext;
  readonly first: string;
}

/** A person's own device with one secret, "First", behind a picture. */
async function protectedFirst(phrase: string | null = null): Promise<Story> {
  const person = await world().signUp();
  const laptop = await person.open();
  const { secretId: first } = await protect(laptop, textSecret("First", shown("market", phrase)), {});
  await answerDevice(laptop, "own");
  return { person, laptop, first };
}

async function opensBoth(vault: VaultContext, [first, second]: readonly [string, string], by: Shown): Promise<void> {
  expect(await titles(vault)).toEqual(["First", "Second"]);
  expect(plain(await recover(vault, first, by, {}))).toBe("content of First");
  expect(plain(await recover(vault, second, by, {}))).toBe("content of Second");
}

async function unlocked(person: PersonOfService, device: string, by: Shown, options = {}): Promise<VaultContext> {
  const vault = await person.open(device, options);
  (await unlock(vault, by, {})).opener.forget();
  return vault;
}

describe("whatever is left", () => {
  it("opens the list and every secret that was sealed to it: a passkey, the picture, a recovery code", async () => {
    const { person, laptop, first } = await protectedFirst();
    await addOpener(laptop, { key: passkey(), name: "Laptop" }, shown("market"), {});
    const printed = await printedCode();
    await addOpener(laptop, { key: printed, name: "Paper" }, shown("market"), {});
    expect((await listOpeners(laptop)).secrets.map(({ missing }) => missing.length)).toEqual([2]);
    expect(await cover(laptop, shown("market"), {})).toEqual({ covered: 1, left: [] });
    const { secretId: second } = await protect(laptop, textSecret("Second"), {});
    expect((await listOpeners(laptop)).secrets.map(({ missing }) => missing.length)).toEqual([0, 0]);

    // Every picture is lost, and the device was locked: the passkey is left.
    const locked = await person.open("laptop", { locked: true });
    expect(await titles(locked)).toEqual([undefined, undefined]);
    (await unlock(locked, passkey(), {})).opener.forget();
    await opensBoth(locked, [first, second], passkey());
    // The passkey is lost: the picture is left.
    await opensBoth(locked, [first, second], shown("market"));
    // Both are lost: the code is left, in a browser that knows nothing.
    const other = await person.open("library");
    await expect(
      unlock(other, { kind: "recovery_code", code: printed.code.replace(/^\w+/, "zebra") }, {}),
    ).rejects.toMatchObject({
      code: expect.stringMatching(/^(recovery_code_unreadable|not_this_recovery_code)$/) as string,
    });
    (await unlock(other, printed, {})).opener.forget();
    await answerDevice(other, "own");
    await opensBoth(other, [first, second], printed);
  });

  it("does not open by a passkey without PRF, which adds nothing", async () => {
    const { person, laptop } = await protectedFirst();
    await expect(addOpener(laptop, { key: passkey(7, 16), name: "Old phone" }, shown("market"), {})).rejects.toEqual(
      code("passkey_without_prf"),
    );
    expect((await listOpeners(laptop)).openers).toHaveLength(1);
    expect((await (await person.open("phone")).service.keyring(null))?.slots).toHaveLength(1);
  });
});

describe("a passphrase, then another picture, in the place of one", () => {
  it("open everything; what opened before opens nothing, here and elsewhere", async () => {
    const { person, laptop, first } = await protectedFirst("nine stones");
    const { secretId: second } = await protect(laptop, textSecret("Second"), {});
    const [before, after, third] = [
      shown("market", "nine stones"),
      shown("market", "ten stones"),
      shown("friends", "a boat"),
    ];
    const refused = code("not_this_picture_or_passphrase");

    await expect(changeImage(laptop, after, { shown: after, name: "The market" }, {})).rejects.toEqual(refused);
    const { openerId } = await changeImage(laptop, before, { shown: after, name: "The market" }, {});
    expect((await listOpeners(laptop)).openers).toMatchObject([{ id: openerId, name: "The market", opens: 2 }]);
    await expect(recover(laptop, first, before, {})).rejects.toEqual(refused);
    await opensBoth(laptop, [first, second], after);
    await expect(unlocked(person, "phone", before)).rejects.toEqual(refused);
    await opensBoth(await unlocked(person, "phone", after), [first, second], after);

    await changeImage(laptop, after, { shown: third, name: "The friends" }, {});
    expect((await listOpeners(laptop)).openers.map(({ name }) => name)).toEqual(["The friends"]);
    await expect(recover(laptop, second, after, {})).rejects.toEqual(refused);
    await opensBoth(laptop, [first, second], third);
    await expect(unlocked(person, "tablet", after)).rejects.toEqual(refused);
    await opensBoth(await unlocked(person, "tablet", third), [first, second], third);
  });
});
