import "fake-indexeddb/auto";

import type { Keyring } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { copyOf } from "../seal/bytes.ts";
import { openLabel, revOf } from "../seal/label.ts";
import { openSharesInner } from "../seal/shares.ts";
import type { ShownKey } from "../shown-image.ts";
import { readAccount } from "../steps/read-account.ts";
import { alterStagedRow, lastOf, type FakeAccount } from "../testing/fake-account.ts";
import { asked, storedRequest, aText } from "../testing/answering.ts";
import { openAnswer } from "../requests/open-answer.ts";
import { createSharingWorld } from "../testing/sharing-world.ts";
import { createWorld, shown, textSecret, type World } from "../testing/world.ts";
import type { VaultContext } from "../vault-context.ts";
import { cover } from "./cover.ts";
import { list } from "./list.ts";
import { addOpener, listOpeners, newRecoveryCode } from "./openers.ts";
import { protect } from "./protect.ts";
import { purge } from "./purge.ts";
import { recover } from "./recover.ts";
import { rotate } from "./rotate.ts";
import { answerDevice, unlock } from "./unlock.ts";
import { update } from "./update.ts";

jest.setTimeout(60_000); // for a busy machine

const code = (expected: string, details?: unknown): unknown => expect.objectContaining({ code: expected, ...(details === undefined ? {} : { details }) });
const plain = ({ content }: { readonly content: Uint8Array }): string => new TextDecoder().decode(content);
const passkey = (fill: number): ShownKey => ({ kind: "passkey", prf: copyOf(new Uint8Array(32).fill(fill)) });
const rounds = process.env["RELICARIO_TESTS"] === "all" ? 20 : 2;

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

/** Two secrets, the first of two versions; a picture, a printed code and the passkey of a phone that will be lost open everything. */
async function settled(): Promise<{ world: World; laptop: VaultContext; phone: VaultContext; ids: [string, string]; paper: ShownKey }> {
  const { account, ids, paper } = await (prepared ??= prepare());
  const world = createWorld();
  world.service.account = structuredClone(account);
  const laptop = await unlocked(world, "laptop");
  const phone = await world.open("phone");
  (await unlock(phone, passkey(7), {})).opener.forget();
  await answerDevice(phone, "own");
  return { world, laptop, phone, ids, paper };
}

const keyringOf = (world: World): NonNullable<World["service"]["account"]["keyring"]> => {
  const { keyring } = world.service.account;
  if (keyring === null) throw new TypeError("there is no keyring");
  return keyring;
};

/** Of each share its id, whether the account's own document says that it is live, and the key of its link. */
async function sharesOf(vault: VaultContext): Promise<(string | boolean | null | undefined)[][]> {
  const opened = (await readAccount(vault))?.view.opened;
  if (opened == null || vault.accountKey === null) throw new TypeError("an opener was shown");
  const { shares } = await openSharesInner(vault.accountKey, vault.userId, opened.shares);
  return opened.shares.shares.map(({ share_id: id, revoked_at: revokedAt }) => [id, revokedAt === null, shares.find((one) => one.share_id === id)?.link_key]);
}

/** Everything opens on a device that knows nothing, and the list is whole. */
async function isWhole(world: World, ids: readonly [string, string], name: string): Promise<void> {
  const fresh = await world.open(name);
  expect(plain(await recover(fresh, ids[0], shown("market"), {}))).toBe("second text");
  expect(plain(await recover(fresh, ids[0], shown("market"), { version: 1 }))).toBe("content of First");
  expect(await recover(fresh, ids[1], shown("market"), {})).toMatchObject({ title: "Second", author: "verified" });
  expect((await list(fresh)).map(({ label }) => label?.title).toSorted()).toEqual(["First", "Second"]);
}

describe("rotate", () => {
  it("gives the account another key: those shown open everything, the one that is lost nothing", async () => {
    const { world, laptop, phone, ids, paper } = await settled();
    const before = keyringOf(world);
    const told: string[] = [];
    const { removed } = await rotate(laptop, [shown("market"), paper], { onProgress: ({ phase, done, total }) => told.push(`${phase} ${String(done)} of ${String(total)}`) });
    expect(removed).toHaveLength(1);
    expect(told).toEqual(expect.arrayContaining(["sealing 0 of 2", "sealing 2 of 2", "sending 1 of 1"]));
    const after = keyringOf(world);
    expect(after).toMatchObject({ keyEpoch: 2, keyStatement: { key_epoch: 2 } });
    expect(after.keyStatement.signing_key).not.toBe(before.keyStatement.signing_key);
    expect(after.slots).toHaveLength(2);
    expect((await listOpeners(laptop)).openers.map(({ name }) => name)).toEqual(["The market", "Paper"]);
    await isWhole(world, ids, "tablet");
    expect(plain(await recover(await world.open("library"), ids[1], paper, {}))).toBe("content of Second");
    await expect(unlock(await world.open("other"), passkey(7), {})).rejects.toEqual(code("not_this_passkey"));
    await expect(recover(phone, ids[1], passkey(7), {})).rejects.toEqual(code("not_this_passkey"));
    await protect(laptop, textSecret("Third"), {});
    expect((await list(laptop)).map(({ label }) => label?.title).toSorted()).toEqual(["First", "Second", "Third"]);
  });

  it("leaves the titles keys of the lost device nothing new: neither labels nor a change", async () => {
    const { world, laptop, phone, ids } = await settled();
    const { keys } = phone;
    if (keys === null) throw new TypeError("it was unlocked");
    await rotate(laptop, [shown("market")], {});
    expect(await readAccount(phone)).toMatchObject({ view: { opened: null } });
    expect(phone.getState()).toEqual({ status: "locked" });
    const label = lastOf(world.service.account.rows.get(ids[1])?.versions)?.label ?? "";
    for (const epoch of [1, 2]) await expect(openLabel({ ...keys, keyEpoch: epoch }, phone.userId, { secretId: ids[1], version: 1, rev: revOf(label) }, label)).rejects.toEqual(code("decryption_failed"));
    await expect(update(phone, ids[1], { baseVersion: 1, title: "Mine now" }, {})).rejects.toEqual(code("vault_locked"));
  });

  it("seals tickets, former versions and contents of what loses an opener anew", async () => {
    const { world, laptop, ids } = await settled();
    const versions = (): { ticket: string; content: string }[] => ids.flatMap((id) => (world.service.account.rows.get(id)?.versions ?? []).map(({ ticket, content }) => ({ ticket, content })));
    const before = versions();
    await rotate(laptop, [shown("market")], {});
    for (const [index, { ticket, content }] of versions().entries()) {
      expect(ticket).not.toBe(before[index]?.ticket);
      expect(content).not.toBe(before[index]?.content);
    }
  });

  it("leaves contents, and the newest tickets, where every opener is shown", async () => {
    const { world, laptop, ids, paper } = await settled();
    const before = structuredClone(world.service.account.rows.get(ids[1])?.versions[0]);
    expect(await rotate(laptop, [shown("market"), paper, passkey(7), shown("market")], {})).toEqual({ removed: [], revoked: [] });
    const after = world.service.account.rows.get(ids[1])?.versions[0];
    expect([after?.ticket, after?.content]).toEqual([before?.ticket, before?.content]);
    expect(after?.label).not.toBe(before?.label);
    await isWhole(world, ids, "tablet");
  });

  it("works for an account that keeps nothing any more", async () => {
    const world = createWorld();
    const laptop = await world.open();
    const { secretId } = await protect(laptop, textSecret("First", shown("market")), {});
    await laptop.service.trash(secretId);
    await purge(laptop, [secretId], {});
    await rotate(laptop, [shown("market")], {});
    expect(keyringOf(world).keyEpoch).toBe(2);
    expect(await list(await unlocked(world, "tablet"))).toEqual([]);
  });

  it("keeps a picture, and loses secrets only when they are named", async () => {
    const { laptop, paper } = await settled();
    await expect(rotate(laptop, [paper], {})).rejects.toEqual(code("last_opener", {}));
    await expect(rotate(laptop, [], {})).rejects.toEqual(code("last_opener", {}));
    const { secretId } = await protect(laptop, textSecret("Third", shown("garden")), {});
    await expect(rotate(laptop, [shown("garden")], {})).rejects.toEqual(code("last_opener", { secrets: 2 }));
    const losing = (await list(laptop)).map((row) => row.secretId).filter((id) => id !== secretId);
    await rotate(laptop, [shown("garden")], { losing });
    expect(plain(await recover(laptop, secretId, shown("garden"), {}))).toBe("content of Third");
    await expect(recover(laptop, losing[0] ?? "", shown("garden"), {})).rejects.toEqual(code("opener_needed"));
  });

  it("ends requests that wait, and opens the answers that came before", async () => {
    const { world, laptop } = await settled();
    const [waiting, answered] = [await asked(world, laptop, { title: "The deed" }), await asked(world, laptop, { title: "The key" })];
    await answered.provider.answer(aText("under the mat"));
    expect((await rotate(laptop, [shown("market")], {})).revoked).toEqual(["The deed"]);
    expect(storedRequest(world, waiting.requestId).state).toBe("revoked");
    expect(plain((await openAnswer(laptop, answered.requestId, shown("market"), {})) as never)).toBe("under the mat");
  });

  it("keeps shares and their links, but for those of a content that is sealed anew: they end", async () => {
    const { adasVault: vault, share } = await createSharingWorld();
    const { shareId } = await share({});
    const before = await sharesOf(vault);
    await rotate(vault, [shown("market")], {});
    expect(await sharesOf(vault)).toEqual(before);
    expect(before).toEqual([[shareId, true, expect.any(String)]]);
    await addOpener(vault, { key: passkey(7), name: "Phone" }, null, {});
    await cover(vault, shown("market"), {});
    await rotate(vault, [shown("market")], {});
    expect(await sharesOf(vault)).toEqual([[shareId, false, before[0]?.[2]]]);
  });

  it("done on two devices at the same time is done by one, and the other says so", async () => {
    const { world, laptop, ids, paper } = await settled();
    const tablet = await unlocked(world, "tablet");
    const ends = await Promise.allSettled([rotate(laptop, [shown("market"), paper], {}), rotate(tablet, [shown("market"), paper], {})]);
    expect(ends.some(({ status }) => status === "fulfilled")).toBe(true);
    for (const end of ends) if (end.status === "rejected") expect(["vault_locked", "state_conflict", "publication_not_seen"]).toContain((end.reason as PortalError).code);
    expect(keyringOf(world).keyEpoch).toBe(2);
    await isWhole(world, ids, "library");
  });

  it("can be done again", async () => {
    const { world, laptop, ids, paper } = await settled();
    await rotate(laptop, [shown("market"), paper], {});
    await rotate(laptop, [shown("market")], {});
    expect(keyringOf(world).keyEpoch).toBe(3);
    await isWhole(world, ids, "tablet");
  });

  it("begins on a locked device by the first opener that is shown", async () => {
    const { world, ids } = await settled();
    await rotate(await world.open("tablet"), [shown("market")], {});
    await isWhole(world, ids, "library");
  });

  it("keeps the titles keys of its own device in step, and a page loaded later is unlocked", async () => {
    const { world, laptop } = await settled();
    await answerDevice(laptop, "own");
    await rotate(laptop, [shown("market")], {});
    const again = await world.open();
    expect((await list(again)).map(({ label }) => label?.title).toSorted()).toEqual(["First", "Second"]);
  });

  it("seals what another device wrote meanwhile, too", async () => {
    const { world, laptop, phone, ids } = await settled();
    let wrote = 0;
    world.service.before = async (call) => {
      if (call !== "PUT /user/keyring" || wrote++ > 0) return;
      world.service.before = () => undefined;
      await update(phone, ids[1], { baseVersion: 1, title: "Renamed" }, {});
    };
    await rotate(laptop, [shown("market")], {});
    expect((await list(await unlocked(world, "tablet"))).map(({ label }) => label?.title).toSorted()).toEqual(["First", "Renamed"]);
  });
});

async function unlocked(world: World, name: string): Promise<VaultContext> {
  const vault = await world.open(name);
  (await unlock(vault, shown("market"), {})).opener.forget();
  return vault;
}

describe("a hostile service", () => {
  it.each<[string, string, (world: World) => void]>([
    ["says published, and switched to nothing", "publication_not_seen", (world) => {
      const earlier = world.service.snapshot();
      world.service.answer = (call, answer) => {
        if (call === "PUT /user/keyring") world.service.account = earlier;
        return answer;
      };
    }],
    ["gives the slots of before", "publication_not_seen", (world) => {
      const { slots } = keyringOf(world);
      world.service.answer = (call, answer) => (call === "GET /user/keyring" && keyringOf(world).keyEpoch === 2 ? { ...(answer as Keyring), slots } : answer);
    }],
    ["gives the book of before", "older_state", (world) => {
      const { book } = keyringOf(world);
      world.service.answer = (call, answer) => (call === "GET /user/keyring" && keyringOf(world).keyEpoch === 2 ? { ...(answer as Keyring), book } : answer);
    }],
    ["drops a staged row for good", "list_mismatch", (world) => {
      world.service.answer = (call, answer) => {
        if (call === "POST /user/keyring/stage") world.service.account.stage?.rows.delete([...world.service.account.stage.rows.keys()][0] ?? "");
        return answer;
      };
    }],
    ["alters a staged row for good", "list_mismatch", (world) => {
      world.service.answer = (call, answer) => {
        if (call === "POST /user/keyring/stage") alterStagedRow(world.service.account);
        return answer;
      };
    }],
    ["alters a staged row, and says that it is the one that was sent", "state_conflict", (world) => {
      let honest: unknown = null;
      world.service.answer = (call, answer) => {
        if (!call.startsWith("GET /user/keyring/stage/")) return answer;
        honest = answer;
        alterStagedRow(world.service.account);
        return honest;
      };
    }],
  ])("that %s is not believed", async (_, expected, corrupt) => {
    const { world, laptop, ids } = await settled();
    corrupt(world);
    await expect(rotate(laptop, [shown("market")], {})).rejects.toEqual(code(expected));
    expect(laptop.keys?.keyEpoch).toBe(1);
    world.service.answer = (_call, answer) => answer;
    await isWhole(world, ids, "tablet"); // before or after, nothing is lost
  });

  it("that loses a staged row once is given it again", async () => {
    const { world, laptop, ids } = await settled();
    let done = false;
    world.service.answer = (call, answer) => {
      if (call === "POST /user/keyring/stage" && !done) {
        done = true;
        alterStagedRow(world.service.account);
      }
      return answer;
    };
    await rotate(laptop, [shown("market")], {});
    await isWhole(world, ids, "tablet");
  });

  it("that keeps the answer to itself is asked what became of it", async () => {
    const { world, laptop, ids } = await settled();
    world.service.answer = (call, answer) => {
      if (call === "PUT /user/keyring") throw new PortalError("service_unavailable");
      return answer;
    };
    await rotate(laptop, [shown("market")], {});
    expect(laptop.keys?.keyEpoch).toBe(2);
    await isWhole(world, ids, "tablet");
  });
});

describe("a rotation that is killed", () => {
  it(`at any of its calls leaves one consistent account, and is done by going on (${String(rounds)} rounds)`, async () => {
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
  });

  it("by the person stops before anything is changed", async () => {
    const { world, laptop, ids } = await settled();
    const controller = new AbortController();
    const stopped = rotate(laptop, [shown("market")], { signal: controller.signal, onProgress: ({ phase, done }) => { if (phase === "sealing" && done === 1) controller.abort(); } });
    await expect(stopped).rejects.toEqual(code("cancelled"));
    expect(keyringOf(world).keyEpoch).toBe(1);
    await rotate(laptop, [shown("market")], {});
    await isWhole(world, ids, "tablet");
  });
});
