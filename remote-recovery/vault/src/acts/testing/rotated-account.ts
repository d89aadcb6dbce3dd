import { PortalError } from "@relicario/shared/errors";

import { copyOf } from "../../seal/bytes.ts";
import type { ShownKey } from "../../shown-image.ts";
import type { FakeAccount } from "../../testing/fake-account.ts";
import { createWorld, shown, textSecret, type World } from "../../testing/world.ts";
import type { VaultContext } from "../../vault-context.ts";
import { cover } from "../cover.ts";
import { list } from "../list.ts";
import { addOpener, newRecoveryCode } from "../openers.ts";
import { protect } from "../protect.ts";
import { recover } from "../recover.ts";
import { rotate } from "../rotate.ts";
import { answerDevice, unlock } from "../unlock.ts";
import { update } from "../update.ts";

const plain = ({ content }: { readonly content: Uint8Array }): string => new TextDecoder().decode(content);
export const passkey = (fill: number): ShownKey => ({ kind: "passkey", prf: copyOf(new Uint8Array(32).fill(fill)) });

/** What every test begins with, made once. */
let prepared: Promise<{ account: FakeAccount; ids: [string, string]; paper: ShownKey }> | null = null;

async function prepare(): Promise<{ account: FakeAccount; ids: [string, string]; paper: ShownKey }> {
  const world = createWorld();
  const laptop = await world.open();
  const { secretId: first } = await protect(laptop, textSecret("First", shown("market")), {});
  await addOpener(laptop, { key: passkey(7), name: "Phone" }, null, {});
  const paper: ShownKey = { kind: "recovery_code", code: (await newRecoveryCode()).words.join(" ") };
  await addOpener(laptop, { key: paper, name: "Paper" }, null, {});
  await cover(laptop, shown("market"), {});
  await update(laptop, first, { baseVersion: 1, content: textSecret("First", undefined, "second text") }, {});
  const { secretId: second } = await protect(laptop, textSecret("Second"), {});
  return { account: world.service.snapshot(), ids: [first, second], paper };
}

/**
 * Two secrets, the first of two versions; a picture, a printed code and the passkey of a phone that
 * will be lost open everything.
 */
export async function settled(): Promise<{
  world: World;
  laptop: VaultContext;
  phone: VaultContext;
  ids: [string, string];
  paper: ShownKey;
}> {
  const { account, ids, paper } = await (prepared ??= prepare());
  const world = createWorld();
  world.service.account = structuredClone(account);
  const laptop = await unlocked(world, "laptop");
  const phone = await world.open("phone");
  (await unlock(phone, passkey(7), {})).opener.forget();
  await answerDevice(phone, "own");
  return { world, laptop, phone, ids, paper };
}

export async function unlocked(world: World, name: string): Promise<VaultContext> {
  const vault = await world.open(name);
  (await unlock(vault, shown("market"), {})).opener.forget();
  return vault;
}

export const keyringOf = (world: World): NonNullable<World["service"]["account"]["keyring"]> => {
  const { keyring } = world.service.account;
  if (keyring === null) throw new TypeError("there is no keyring");
  return keyring;
};

/** Everything opens on a device that knows nothing, and the list is whole. */
export async function isWhole(world: World, ids: readonly [string, string], name: string): Promise<void> {
  const fresh = await world.open(name);
  expect(plain(await recover(fresh, ids[0], shown("market"), {}))).toBe("second text");
  expect(plain(await recover(fresh, ids[0], shown("market"), { version: 1 }))).toBe("content of First");
  expect(await recover(fresh, ids[1], shown("market"), {})).toMatchObject({ title: "Second", author: "verified" });
  expect((await list(fresh)).map(({ label }) => label?.title).toSorted()).toEqual(["First", "Second"]);
}

/** Kills so many rotations, each at a call of its own, and goes on on the same device. */
export async function killRotations(rounds: number): Promise<void> {
  const { world, laptop, ids } = await settled();
  world.service.calls.length = 0;
  const start = world.service.snapshot();
  await rotate(laptop, [shown("market")], {});
  const total = world.service.calls.length;
  for (let round = 0; round < rounds; round++) {
    world.service.account = structuredClone(start);
    const [at, isAnswer] = [1 + Math.floor(Math.random() * total), Math.random() < 0.5];
    const device = await world.open(`device ${String(round)}`);
    let calls = 0;
    const kill = (): void => {
      if (++calls >= at) throw new PortalError("service_unavailable"); // and never comes back for this page
    };
    if (isAnswer) world.service.answer = (_call, answer) => (kill(), answer);
    else world.service.before = kill;
    await rotate(device, [shown("market")], {}).catch(() => null);
    world.service.before = () => undefined;
    world.service.answer = (_call, answer) => answer;
    await isWhole(world, ids, `look ${String(round)}`);
    await rotate(await world.open(`device ${String(round)}`), [shown("market")], {});
    expect(keyringOf(world).slots).toHaveLength(1);
    await isWhole(world, ids, `after ${String(round)}`);
  }
}
