import { PortalError } from "@relicario/shared/errors";

import type { PresentedKey, PresentedPicture } from "../../rpc/presented-opener.ts";
import type { FakeAccount } from "../../testing/fake-account.ts";
import { createWorld, makePicture, textSecret, type World } from "../../testing/world.ts";
import type { VaultSession } from "../../session/vault-session.ts";
import { replaceImage } from "../replace-image.ts";
import { resealForAllOpeners } from "../reseal-for-all-openers.ts";
import { list } from "../list.ts";
import { addOpener, generateRecoveryCode } from "../openers.ts";
import { protect } from "../protect.ts";
import { openSmallSecret } from "../open-secret.ts";
import { unlock } from "../../openers/unlock.ts";
import { update } from "../update.ts";

const decodeContent = ({ content }: { readonly content: Uint8Array }): string => new TextDecoder().decode(content);
export const originalPicture = makePicture("market");
export const withPassphrase = { presentedPicture: makePicture("market", "nine stones"), name: "The market" };

/** What every test begins with, made once. */
let prepared: Promise<{ account: FakeAccount; ids: [string, string]; paper: PresentedKey }> | null = null;

async function prepareAccount(): Promise<{ account: FakeAccount; ids: [string, string]; paper: PresentedKey }> {
  const world = createWorld();
  const laptop = await world.open();
  const { secretId: first } = await protect(laptop, textSecret("First", originalPicture), {});
  const paper: PresentedKey = { kind: "recovery_code", code: (await generateRecoveryCode()).words.join(" ") };
  await addOpener(laptop, { key: paper, name: "Paper" }, null, {});
  await resealForAllOpeners(laptop, originalPicture, {});
  await update(laptop, first, { baseVersion: 1, content: textSecret("First", undefined, "second text") }, {});
  const { secretId: second } = await protect(laptop, textSecret("Second"), {});
  return { account: world.service.snapshot(), ids: [first, second], paper };
}

/** Two secrets, the first of two versions; a picture and a printed code open them. */
export async function openPreparedAccount(): Promise<{
  world: World;
  laptop: VaultSession;
  ids: [string, string];
  paper: PresentedKey;
}> {
  const { account, ids, paper } = await (prepared ??= prepareAccount());
  const world = createWorld();
  world.service.account = structuredClone(account);
  const laptop = await world.open("laptop");
  (await unlock(laptop, originalPicture, {})).opener.wipe();
  return { world, laptop, ids, paper };
}

/** Everything opens by this picture on a device that knows nothing, and the list is whole. */
export async function expectEverythingOpens(
  world: World,
  ids: readonly [string, string],
  picture: PresentedPicture,
  name: string,
): Promise<void> {
  const newDevice = await world.open(name);
  expect(decodeContent(await openSmallSecret(newDevice, ids[0], picture, {}))).toBe("second text");
  expect(decodeContent(await openSmallSecret(newDevice, ids[0], picture, { version: 1 }))).toBe("content of First");
  expect(await openSmallSecret(newDevice, ids[1], picture, {})).toMatchObject({ title: "Second", author: "verified" });
  expect((await list(newDevice)).map(({ label }) => label?.title).toSorted()).toEqual(["First", "Second"]);
}

/**
 * Kills so many changes of a picture, each at a call of its own, and goes on on the same device.
 */
export async function interruptReplacements(rounds: number): Promise<void> {
  const { world, laptop, ids } = await openPreparedAccount();
  world.service.calls.length = 0;
  const start = world.service.snapshot();
  await replaceImage(laptop, originalPicture, withPassphrase, {});
  const total = world.service.calls.length;
  for (let round = 0; round < rounds; round++) {
    world.service.account = structuredClone(start);
    const [failAt, isAnswer] = [1 + Math.floor(Math.random() * total), Math.random() < 0.5];
    const device = await world.open(`device ${String(round)}`);
    let calls = 0;
    const failAtCall = (): void => {
      if (++calls >= failAt) throw new PortalError("service_unavailable"); // and never comes back for this page
    };
    if (isAnswer) world.service.transformAnswer = (_call, answer) => (failAtCall(), answer);
    else world.service.beforeCall = failAtCall;
    await replaceImage(device, originalPicture, withPassphrase, {}).catch(() => null);
    world.service.beforeCall = () => undefined;
    world.service.transformAnswer = (_call, answer) => answer;
    const isDone = await unlock(await world.open(`look ${String(round)}`), originalPicture, {}).then(
      ({ opener }) => (opener.wipe(), false),
      () => true,
    );
    if (!isDone) await replaceImage(await world.open(`device ${String(round)}`), originalPicture, withPassphrase, {});
    await expectEverythingOpens(world, ids, withPassphrase.presentedPicture, `after ${String(round)}`);
  }
}
