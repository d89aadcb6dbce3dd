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
import { rotate } from "../rotate.ts";
import { setDeviceKind } from "../set-device-kind.ts";
import { unlock } from "../../openers/unlock.ts";
import { update } from "../update.ts";

const decodeContent = ({ content }: { readonly content: Uint8Array }): string => new TextDecoder().decode(content);
export const passkey = (fill: number): PresentedKey => ({
  kind: "passkey",
  prf: copyOf(new Uint8Array(32).fill(fill)),
});

/** What every test begins with, made once. */
let prepared: Promise<{ account: FakeAccount; ids: [string, string]; paper: PresentedKey }> | null = null;

async function prepareAccount(): Promise<{ account: FakeAccount; ids: [string, string]; paper: PresentedKey }> {
  const world = createWorld();
  const laptop = await world.open();
  const { secretId: first } = await protect(laptop, textSecret("First", makePicture("market")), {});
  await addOpener(laptop, { key: passkey(7), name: "Phone" }, null, {});
  const paper: PresentedKey = { kind: "recovery_code", code: (await generateRecoveryCode()).words.join(" ") };
  await addOpener(laptop, { key: paper, name: "Paper" }, null, {});
  await resealForAllOpeners(laptop, makePicture("market"), {});
  await update(laptop, first, { baseVersion: 1, content: textSecret("First", undefined, "second text") }, {});
  const { secretId: second } = await protect(laptop, textSecret("Second"), {});
  return { account: world.service.snapshot(), ids: [first, second], paper };
}

/**
 * Two secrets, the first of two versions; a picture, a printed code and the passkey of a phone that
 * will be lost open everything.
 */
export async function openPreparedAccount(): Promise<{
  world: World;
  laptop: VaultSession;
  phone: VaultSession;
  ids: [string, string];
  paper: PresentedKey;
}> {
  const { account, ids, paper } = await (prepared ??= prepareAccount());
  const world = createWorld();
  world.service.account = structuredClone(account);
  const laptop = await openUnlocked(world, "laptop");
  const phone = await world.open("phone");
  (await unlock(phone, passkey(7), {})).opener.wipe();
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
  if (keyring === null) throw new TypeError("there is no keyring");
  return keyring;
};

/** Everything opens on a device that knows nothing, and the list is whole. */
export async function expectEverythingOpens(world: World, ids: readonly [string, string], name: string): Promise<void> {
  const newDevice = await world.open(name);
  expect(decodeContent(await openSmallSecret(newDevice, ids[0], makePicture("market"), {}))).toBe("second text");
  expect(decodeContent(await openSmallSecret(newDevice, ids[0], makePicture("market"), { version: 1 }))).toBe(
    "content of First",
  );
  expect(await openSmallSecret(newDevice, ids[1], makePicture("market"), {})).toMatchObject({
    title: "Second",
    author: "verified",
  });
  expect((await list(newDevice)).map(({ label }) => label?.title).toSorted()).toEqual(["First", "Second"]);
}

/** Kills so many rotations, each at a call of its own, and goes on on the same device. */
export async function interruptRotations(rounds: number): Promise<void> {
  const { world, laptop, ids } = await openPreparedAccount();
  world.service.calls.length = 0;
  const start = world.service.snapshot();
  await rotate(laptop, [makePicture("market")], {});
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
    await rotate(device, [makePicture("market")], {}).catch(() => null);
    world.service.beforeCall = () => undefined;
    world.service.transformAnswer = (_call, answer) => answer;
    await expectEverythingOpens(world, ids, `look ${String(round)}`);
    await rotate(await world.open(`device ${String(round)}`), [makePicture("market")], {});
    expect(requireKeyring(world).slots).toHaveLength(1);
    await expectEverythingOpens(world, ids, `after ${String(round)}`);
  }
}
