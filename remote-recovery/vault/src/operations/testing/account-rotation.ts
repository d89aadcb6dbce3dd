import { PortalError } from "@relicario/shared/errors";

import { copyOf } from "../../seal/bytes.ts";
import type { PresentedKey } from "../../rpc/presented-opener.ts";
import type { FakeAccount } from "../../testing/fake-account.ts";
import { createWorld, makePicture, textSecret, type World } from "../../testing/world.ts";
import type { VaultSession } from "../../session/vault-session.ts";
import { resealForAllOpeners } from "../reseal-for-all-openers.ts";
import { list } from "../list.ts";
import { addOpener, generateRecoveryCode } from "../openers.ts";
import { protect } from "../protect.ts";
import { openSmallSecret } from "../open-secret.ts";
import { rotateAccountKey } from "../rotate.ts";
import { setDeviceKind } from "../set-device-kind.ts";
import { unlock } from "../../openers/unlock.ts";
import { update } from "../update.ts";

const decodeContent = ({ content }: { readonly content: Uint8Array }): string => new TextDecoder().decode(content);
export const makePasskey = (fill: number): PresentedKey => ({
  kind: "passkey",
  prf: copyOf(new Uint8Array(32).fill(fill)),
});

/** Created once, and cloned for each test. */
let preparedAccount: Promise<{ account: FakeAccount; ids: [string, string]; paper: PresentedKey }> | null = null;

async function prepareAccount(): Promise<{ account: FakeAccount; ids: [string, string]; paper: PresentedKey }> {
  const world = createWorld();
  const laptop = await world.open();
  const { secretId: firstId } = await protect(laptop, textSecret("First", makePicture("market")), {});
  await addOpener(laptop, { key: makePasskey(7), name: "Phone" }, null, {});
  const paper: PresentedKey = { kind: "recovery_code", code: (await generateRecoveryCode()).words.join(" ") };
  await addOpener(laptop, { key: paper, name: "Paper" }, null, {});
  await resealForAllOpeners(laptop, makePicture("market"), {});
  await update(laptop, firstId, { baseVersion: 1, content: textSecret("First", undefined, "second text") }, {});
  const { secretId: secondId } = await protect(laptop, textSecret("Second"), {});
  return { account: world.service.snapshot(), ids: [firstId, secondId], paper };
}

/**
 * An account of two secrets, the first with two versions. A picture, a recovery code and the
 * passkey of a phone that will be lost open both.
 */
export async function openPreparedAccount(): Promise<{
  world: World;
  laptop: VaultSession;
  phone: VaultSession;
  ids: [string, string];
  paper: PresentedKey;
}> {
  const { account, ids, paper } = await (preparedAccount ??= prepareAccount());
  const world = createWorld();
  world.service.account = structuredClone(account);
  const laptop = await openUnlocked(world, "laptop");
  const phone = await world.open("phone");
  (await unlock(phone, makePasskey(7), {})).opener.wipe();
  await setDeviceKind(phone, "own");
  return { world, laptop, phone, ids, paper };
}

export async function openUnlocked(world: World, name: string): Promise<VaultSession> {
  const vault = await world.open(name);
  (await unlock(vault, makePicture("market"), {})).opener.wipe();
  return vault;
}

export const requireKeyring = (world: World): NonNullable<World["service"]["account"]["keyring"]> => {
  const { keyring } = world.service.account;
  if (keyring === null) throw new TypeError("expected a keyring");
  return keyring;
};

/** Opens every version on a new device, and lists both secrets. */
export async function expectEverythingOpens(world: World, ids: readonly [string, string], name: string): Promise<void> {
  const newDevice = await world.open(name);
  expect(decodeContent(await openSmallSecret(newDevice, ids[0], makePicture("market"), {}))).toBe("second text");
  expect(decodeContent(await openSmallSecret(newDevice, ids[0], makePicture("market"), { version: 1 }))).toBe(
    "content of First",
  );
  expect(await openSmallSecret(newDevice, ids[1], makePicture("market"), {})).toMatchObject({
    title: "Second",
    signatureStatus: "verified",
  });
  expect((await list(newDevice)).map(({ label }) => label?.title).toSorted()).toEqual(["First", "Second"]);
}

/**
 * Interrupts rotations at random calls. Checks the account after each, and repeats it on its
 * device.
 */
export async function interruptRotations(rounds: number): Promise<void> {
  const { world, laptop, ids } = await openPreparedAccount();
  world.service.calls.length = 0;
  const accountBefore = world.service.snapshot();
  await rotateAccountKey(laptop, [makePicture("market")], {});
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
    await rotateAccountKey(device, [makePicture("market")], {}).catch(() => null);
    world.service.beforeCall = () => undefined;
    world.service.transformResponse = (_call, response) => response;
    await expectEverythingOpens(world, ids, `look ${String(round)}`);
    await rotateAccountKey(await world.open(`device ${String(round)}`), [makePicture("market")], {});
    expect(requireKeyring(world).slots).toHaveLength(1);
    await expectEverythingOpens(world, ids, `after ${String(round)}`);
  }
}
