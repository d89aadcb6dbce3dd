import "fake-indexeddb/auto";

import type { Keyring } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { openLabel, revOf } from "../seal/label.ts";
import { openSharesInner } from "../seal/shares.ts";
import { readAccount } from "../steps/read-account.ts";
import { alterStagedRow, lastOf } from "../testing/fake-account.ts";
import { asked, storedRequest, aText } from "../testing/answering.ts";
import { openAnswer } from "../requests/open-answer.ts";
import { createSharingWorld } from "../testing/sharing-world.ts";
import { createWorld, shown, textSecret, type World } from "../testing/world.ts";
import type { VaultContext } from "../vault-context.ts";
import { cover } from "./cover.ts";
import { list } from "./list.ts";
import { addOpener, listOpeners } from "./openers.ts";
import { protect } from "./protect.ts";
import { purge } from "./purge.ts";
import { recover } from "./recover.ts";
import { rotate } from "./rotate.ts";
import { isWhole, keyringOf, killRotations, passkey, settled, unlocked } from "./testing/rotated-account.ts";
import { answerDevice, unlock } from "./unlock.ts";
import { update } from "./update.ts";

const code = (expected: string, details?: unknown): unknown =>
  expect.objectContaining({ code: expected, ...(details === undefined ? {} : { details }) });
const plain = ({ content }: { readonly content: Uint8Array }): string => new TextDecoder().decode(content);

/**
 * Of each share its id, whether the account's own document says that it is live, and the key of its
 * link.
 */
async function sharesOf(vault: VaultContext): Promise<(string | boolean | null | undefined)[][]> {
  const opened = (await readAccount(vault))?.view.opened;
  if (opened == null || vault.accountKey === null) throw new TypeError("an opener was shown");
  const { shares } = await openSharesInner(vault.accountKey, vault.userId, opened.shares);
  return opened.shares.shares.map(({ share_id: id, revoked_at: revokedAt }) => [
    id,
    revokedAt === null,
    shares.find((one) => one.share_id === id)?.link_key,
  ]);
}

describe("rotate", () => {
  it("gives the account another key: those shown open everything, the one that is lost nothing", async () => {
    const { world, laptop, phone, ids, paper } = await settled();
    const before = keyringOf(world);
    const told: string[] = [];
    const { removed } = await rotate(laptop, [shown("market"), paper], {
      onProgress: ({ phase, done, total }) => told.push(`${phase} ${String(done)} of ${String(total)}`),
    });
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
    for (const epoch of [1, 2])
      await expect(
        openLabel(
          { ...keys, keyEpoch: epoch },
          phone.userId,
          { secretId: ids[1], version: 1, rev: revOf(label) },
          label,
        ),
      ).rejects.toEqual(code("decryption_failed"));
    await expect(update(phone, ids[1], { baseVersion: 1, title: "Mine now" }, {})).rejects.toEqual(
      code("vault_locked"),
    );
  });

  it("seals tickets, former versions and contents of what loses an opener anew", async () => {
    const { world, laptop, ids } = await settled();
    const versions = (): { ticket: string; content: string }[] =>
      ids.flatMap((id) =>
        (world.service.account.rows.get(id)?.versions ?? []).map(({ ticket, content }) => ({ ticket, content })),
      );
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
    expect(await rotate(laptop, [shown("market"), paper, passkey(7), shown("market")], {})).toEqual({
      removed: [],
      revoked: [],
    });
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
    const [waiting, answered] = [
      await asked(world, laptop, { title: "The deed" }),
      await asked(world, laptop, { title: "The key" }),
    ];
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
    const ends = await Promise.allSettled([
      rotate(laptop, [shown("market"), paper], {}),
      rotate(tablet, [shown("market"), paper], {}),
    ]);
    expect(ends.some(({ status }) => status === "fulfilled")).toBe(true);
    for (const end of ends)
      if (end.status === "rejected")
        expect(["vault_locked", "state_conflict", "publication_not_seen"]).toContain((end.reason as PortalError).code);
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
    expect((await list(await unlocked(world, "tablet"))).map(({ label }) => label?.title).toSorted()).toEqual([
      "First",
      "Renamed",
    ]);
  });
});

describe("a hostile service", () => {
  it.each<[string, string, (world: World) => void]>([
    [
      "says published, and switched to nothing",
      "publication_not_seen",
      (world) => {
        const earlier = world.service.snapshot();
        world.service.answer = (call, answer) => {
          if (call === "PUT /user/keyring") world.service.account = earlier;
          return answer;
        };
      },
    ],
    [
      "gives the slots of before",
      "publication_not_seen",
      (world) => {
        const { slots } = keyringOf(world);
        world.service.answer = (call, answer) =>
          call === "GET /user/keyring" && keyringOf(world).keyEpoch === 2 ? { ...(answer as Keyring), slots } : answer;
      },
    ],
    [
      "gives the book of before",
      "older_state",
      (world) => {
        const { book } = keyringOf(world);
        world.service.answer = (call, answer) =>
          call === "GET /user/keyring" && keyringOf(world).keyEpoch === 2 ? { ...(answer as Keyring), book } : answer;
      },
    ],
    [
      "drops a staged row for good",
      "list_mismatch",
      (world) => {
        world.service.answer = (call, answer) => {
          if (call === "POST /user/keyring/stage")
            world.service.account.stage?.rows.delete([...world.service.account.stage.rows.keys()][0] ?? "");
          return answer;
        };
      },
    ],
    [
      "alters a staged row for good",
      "list_mismatch",
      (world) => {
        world.service.answer = (call, answer) => {
          if (call === "POST /user/keyring/stage") alterStagedRow(world.service.account);
          return answer;
        };
      },
    ],
    [
      "alters a staged row, and says that it is the one that was sent",
      "state_conflict",
      (world) => {
        let honest: unknown = null;
        world.service.answer = (call, answer) => {
          if (!call.startsWith("GET /user/keyring/stage/")) return answer;
          honest = answer;
          alterStagedRow(world.service.account);
          return honest;
        };
      },
    ],
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
  it("at any of its calls leaves one consistent account, and is done by going on", () => killRotations(2));

  it("by the person stops before anything is changed", async () => {
    const { world, laptop, ids } = await settled();
    const controller = new AbortController();
    const stopped = rotate(laptop, [shown("market")], {
      signal: controller.signal,
      onProgress: ({ phase, done }) => {
        if (phase === "sealing" && done === 1) controller.abort();
      },
    });
    await expect(stopped).rejects.toEqual(code("cancelled"));
    expect(keyringOf(world).keyEpoch).toBe(1);
    await rotate(laptop, [shown("market")], {});
    await isWhole(world, ids, "tablet");
  });
});
