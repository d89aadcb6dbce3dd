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
export const passphraseReplacement = { presentedPicture: makePicture("market", "nine stones"), name: "The market" };

/** Created once, and cloned for each test. */
let preparedAccount: Promise<{ account: FakeAccount; ids: [string, string]; paper: PresentedKey }> | null = null;

async function prepareAccount(): Promise<{ account: FakeAccount; ids: [string, string]; paper: PresentedKey }> {
  const world = createWorld();
  const laptop = await world.open();
  const { secretId: firstId } = await protect(laptop, textSecret("First", originalPicture), {});
  const paper: PresentedKey = { kind: "recovery_code", code: (await generateRecoveryCode()).words.join(" ") };
  await addOpener(laptop, { key: paper, name: "Paper" }, null, {});
  await resealForAllOpeners(laptop, originalPicture, {});
  await update(laptop, firstId, { baseVersion: 1, content: textSecret("First", undefined, "second text") }, {});
  const { secretId: secondId } = await protect(laptop, textSecret("Second"), {});
  return { account: world.service.snapshot(), ids: [firstId, secondId], paper };
}

/**
 * An account of two secrets, the first with two versions. A picture and a recovery code open both.
 */
export async function openPreparedAccount(): Promise<{
  world: World;
  laptop: VaultSession;
  ids: [string, string];
  paper: PresentedKey;
}> {
  const { account, ids, paper } = await (preparedAccount ??= prepareAccount());
  const world = createWorld();
  world.service.account = structuredClone(account);
  const laptop = await world.open("laptop");
  (await unlock(laptop, originalPicture, {})).opener.wipe();
  return { world, laptop, ids, paper };
}

/** Opens every version with this picture on a new device, and lists both secrets. */
export async function expectEverythingOpens(
  world: World,
  ids: readonly [string, string],
  picture: PresentedPicture,
  name: string,
): Promise<void> {
  const newDevice = await world.open(name);
  expect(decodeContent(await openSmallSecret(newDevice, ids[0], picture, {}))).toBe("second text");
  expect(decodeContent(await openSmallSecret(newDevice, ids[0], picture, { version: 1 }))).toBe("content of First");
  expect(await openSmallSecret(newDevice, ids[1], picture, {})).toMatchObject({
    title: "Second",
    signatureStatus: "verified",
  });
  expect((await list(newDevice)).map(({ label }) => label?.title).toSorted()).toEqual(["First", "Second"]);
}

/** Interrupts replacements at random calls. Repeats each on its device, and checks the account. */
export async function interruptReplacements(rounds: number): Promise<void> {
  const { world, laptop, ids } = await openPreparedAccount();
  world.service.calls.length = 0;
  const accountBefore = world.service.snapshot();
  await replaceImage(laptop, originalPicture, passphraseReplacement, {});
  const totalCalls = world.service.calls.length;
  for (let round = 0; round < rounds; round++) {
    world.service.account = structuredClone(accountBefore);
    const [failAt, losesResponse] = [1 + Math.floor(Math.random() * totalCalls), Math.random() < 0.5];
    const device = await world.open(`device ${String(round)}`);
    let callCount = 0;
    const failAtCall = (): void => {
      if (++callCount >= failAt) throw new PortalError("service_unavailable"); // until the page is closed
    };
    if (losesResponse) world.service.transformResponse = (_call, response) => (failAtCall(), response);
    else world.service.beforeCall = failAtCall;
    await replaceImage(device, originalPicture, passphraseReplacement, {}).catch(() => null);
    world.service.beforeCall = () => undefined;
    world.service.transformResponse = (_call, response) => response;
    const isDone = await unlock(await world.open(`look ${String(round)}`), originalPicture, {}).then(
      ({ opener }) => (opener.wipe(), false),
      () => true,
    );
    if (!isDone)
      await replaceImage(await world.open(`device ${String(round)}`), originalPicture, passphraseReplacement, {});
    await expectEverythingOpens(world, ids, passphraseReplacement.presentedPicture, `after ${String(round)}`);
  }
}
