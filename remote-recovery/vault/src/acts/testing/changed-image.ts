import { PortalError } from "@relicario/shared/errors";

import type { ShownKey, ShownPicture } from "../../shown-image.ts";
import type { FakeAccount } from "../../testing/fake-account.ts";
import { createWorld, shown, textSecret, type World } from "../../testing/world.ts";
import type { VaultContext } from "../../vault-context.ts";
import { changeImage } from "../change-image.ts";
import { cover } from "../cover.ts";
import { list } from "../list.ts";
import { addOpener, newRecoveryCode } from "../openers.ts";
import { protect } from "../protect.ts";
import { recover } from "../recover.ts";
import { unlock } from "../unlock.ts";
import { update } from "../update.ts";

const plain = ({ content }: { readonly content: Uint8Array }): string => new TextDecoder().decode(content);
export const old = shown("market");
export const withPassphrase = { shown: shown("market", "nine stones"), name: "The market" };

/** What every test begins with, made once. */
let prepared: Promise<{ account: FakeAccount; ids: [string, string]; paper: ShownKey }> | null = null;

async function prepare(): Promise<{ account: FakeAccount; ids: [string, string]; paper: ShownKey }> {
  const world = createWorld();
  const laptop = await world.open();
  const { secretId: first } = await protect(laptop, textSecret("First", old), {});
  const paper: ShownKey = { kind: "recovery_code", code: (await newRecoveryCode()).words.join(" ") };
  await addOpener(laptop, { key: paper, name: "Paper" }, null, {});
  await cover(laptop, old, {});
  await update(laptop, first, { baseVersion: 1, content: textSecret("First", undefined, "second text") }, {});
  const { secretId: second } = await protect(laptop, textSecret("Second"), {});
  return { account: world.service.snapshot(), ids: [first, second], paper };
}

/** Two secrets, the first of two versions; a picture and a printed code open them. */
export async function settled(): Promise<{
  world: World;
  laptop: VaultContext;
  ids: [string, string];
  paper: ShownKey;
}> {
  const { account, ids, paper } = await (prepared ??= prepare());
  const world = createWorld();
  world.service.account = structuredClone(account);
  const laptop = await world.open("laptop");
  (await unlock(laptop, old, {})).opener.forget();
  return { world, laptop, ids, paper };
}

/** Everything opens by this picture on a device that knows nothing, and the list is whole. */
export async function isWhole(
  world: World,
  ids: readonly [string, string],
  by: ShownPicture,
  name: string,
): Promise<void> {
  const fresh = await world.open(name);
  expect(plain(await recover(fresh, ids[0], by, {}))).toBe("second text");
  expect(plain(await recover(fresh, ids[0], by, { version: 1 }))).toBe("content of First");
  expect(await recover(fresh, ids[1], by, {})).toMatchObject({ title: "Second", author: "verified" });
  expect((await list(fresh)).map(({ label }) => label?.title).toSorted()).toEqual(["First", "Second"]);
}

/**
 * Kills so many changes of a picture, each at a call of its own, and goes on on the same device.
 */
export async function killChanges(rounds: number): Promise<void> {
  const { world, laptop, ids } = await settled();
  world.service.calls.length = 0;
  const start = world.service.snapshot();
  await changeImage(laptop, old, withPassphrase, {});
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
    await changeImage(device, old, withPassphrase, {}).catch(() => null);
    world.service.before = () => undefined;
    world.service.answer = (_call, answer) => answer;
    const isDone = await unlock(await world.open(`look ${String(round)}`), old, {}).then(
      ({ opener }) => (opener.forget(), false),
      () => true,
    );
    if (!isDone) await changeImage(await world.open(`device ${String(round)}`), old, withPassphrase, {});
    await isWhole(world, ids, withPassphrase.shown, `after ${String(round)}`);
  }
}
