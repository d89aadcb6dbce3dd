import "fake-indexeddb/auto";

import type { Keyring } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { openLabel, parseUnverifiedRev } from "../seal/label.ts";
import { openSharesInner } from "../seal/shares.ts";
import { readAccount } from "../keyring/read-account.ts";
import { alterStagedRow, lastOf } from "../testing/fake-account.ts";
import { createRequestWithProvider, storedRequest, makeTextAnswer } from "../testing/answer-provider.ts";
import { openAnswer } from "../requests/open-answer.ts";
import { createSharingWorld } from "../testing/sharing-world.ts";
import { createWorld, makePicture, textSecret, type World } from "../testing/world.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { resealForAllOpeners } from "./reseal-for-all-openers.ts";
import { list } from "./list.ts";
import { addOpener, listOpeners } from "./openers.ts";
import { protect } from "./protect.ts";
import { purge } from "./purge.ts";
import { openSmallSecret } from "./open-secret.ts";
import { rotate } from "./rotate.ts";
import {
  expectEverythingOpens,
  requireKeyring,
  interruptRotations,
  passkey,
  openPreparedAccount,
  openUnlocked,
} from "./testing/account-rotation.ts";
import { setDeviceKind } from "./set-device-kind.ts";
import { unlock } from "../openers/unlock.ts";
import { update } from "./update.ts";

const errorWithCode = (expected: string, details?: unknown): unknown =>
  expect.objectContaining({ code: expected, ...(details === undefined ? {} : { details }) });
const decodeContent = ({ content }: { readonly content: Uint8Array }): string => new TextDecoder().decode(content);

/**
 * Of each share its id, whether the account's own document says that it is live, and the key of its
 * link.
 */
async function readShares(vault: VaultSession): Promise<(string | boolean | null | undefined)[][]> {
  const openedKeyring = (await readAccount(vault))?.view.openedKeyring;
  if (openedKeyring == null || vault.accountKey === null) throw new TypeError("an opener was shown");
  const { shares } = await openSharesInner(vault.accountKey, vault.userId, openedKeyring.shares);
  return openedKeyring.shares.shares.map(({ share_id: id, revoked_at: revokedAt }) => [
    id,
    revokedAt === null,
    shares.find((innerShare) => innerShare.share_id === id)?.link_key,
  ]);
}

describe("rotate", () => {
  it("gives the account another key: those shown open everything, the one that is lost nothing", async () => {
    const { world, laptop, phone, ids, paper } = await openPreparedAccount();
    const before = requireKeyring(world);
    const progress: string[] = [];
    const { removedOpenerIds } = await rotate(laptop, [makePicture("market"), paper], {
      onProgress: ({ phase, done, total }) => progress.push(`${phase} ${String(done)} of ${String(total)}`),
    });
    expect(removedOpenerIds).toHaveLength(1);
    expect(progress).toEqual(expect.arrayContaining(["sealing 0 of 2", "sealing 2 of 2", "sending 1 of 1"]));
    const after = requireKeyring(world);
    expect(after).toMatchObject({ keyEpoch: 2, keyStatement: { key_epoch: 2 } });
    expect(after.keyStatement.signing_key).not.toBe(before.keyStatement.signing_key);
    expect(after.slots).toHaveLength(2);
    expect((await listOpeners(laptop)).openers.map(({ name }) => name)).toEqual(["The market", "Paper"]);
    await expectEverythingOpens(world, ids, "tablet");
    expect(decodeContent(await openSmallSecret(await world.open("library"), ids[1], paper, {}))).toBe(
      "content of Second",
    );
    await expect(unlock(await world.open("other"), passkey(7), {})).rejects.toEqual(errorWithCode("not_this_passkey"));
    await expect(openSmallSecret(phone, ids[1], passkey(7), {})).rejects.toEqual(errorWithCode("not_this_passkey"));
    await protect(laptop, textSecret("Third"), {});
    expect((await list(laptop)).map(({ label }) => label?.title).toSorted()).toEqual(["First", "Second", "Third"]);
  });

  it("leaves the metadata keys of the lost device nothing new: neither labels nor a change", async () => {
    const { world, laptop, phone, ids } = await openPreparedAccount();
    const { keys } = phone;
    if (keys === null) throw new TypeError("it was unlocked");
    await rotate(laptop, [makePicture("market")], {});
    expect(await readAccount(phone)).toMatchObject({ view: { openedKeyring: null } });
    expect(phone.state).toEqual({ status: "locked" });
    const label = lastOf(world.service.account.rows.get(ids[1])?.versions)?.label ?? "";
    for (const epoch of [1, 2])
      await expect(
        openLabel(
          { ...keys, keyEpoch: epoch },
          phone.userId,
          { secretId: ids[1], version: 1, rev: parseUnverifiedRev(label) },
          label,
        ),
      ).rejects.toEqual(errorWithCode("decryption_failed"));
    await expect(update(phone, ids[1], { baseVersion: 1, title: "Mine now" }, {})).rejects.toEqual(
      errorWithCode("vault_locked"),
    );
  });

  it("seals tickets, former versions and contents of what loses an opener anew", async () => {
    const { world, laptop, ids } = await openPreparedAccount();
    const versions = (): { ticket: string; content: string }[] =>
      ids.flatMap((id) =>
        (world.service.account.rows.get(id)?.versions ?? []).map(({ ticket, content }) => ({ ticket, content })),
      );
    const before = versions();
    await rotate(laptop, [makePicture("market")], {});
    for (const [index, { ticket, content }] of versions().entries()) {
      expect(ticket).not.toBe(before[index]?.ticket);
      expect(content).not.toBe(before[index]?.content);
    }
  });

  it("leaves contents, and the newest tickets, where every opener is shown", async () => {
    const { world, laptop, ids, paper } = await openPreparedAccount();
    const before = structuredClone(world.service.account.rows.get(ids[1])?.versions[0]);
    expect(await rotate(laptop, [makePicture("market"), paper, passkey(7), makePicture("market")], {})).toEqual({
      removedOpenerIds: [],
      revokedRequestTitles: [],
    });
    const after = world.service.account.rows.get(ids[1])?.versions[0];
    expect([after?.ticket, after?.content]).toEqual([before?.ticket, before?.content]);
    expect(after?.label).not.toBe(before?.label);
    await expectEverythingOpens(world, ids, "tablet");
  });

  it("works for an account that keeps nothing any more", async () => {
    const world = createWorld();
    const laptop = await world.open();
    const { secretId } = await protect(laptop, textSecret("First", makePicture("market")), {});
    await laptop.service.trash(secretId);
    await purge(laptop, [secretId], {});
    await rotate(laptop, [makePicture("market")], {});
    expect(requireKeyring(world).keyEpoch).toBe(2);
    expect(await list(await openUnlocked(world, "tablet"))).toEqual([]);
  });

  it("keeps a picture, and loses secrets only when they are named", async () => {
    const { laptop, paper } = await openPreparedAccount();
    await expect(rotate(laptop, [paper], {})).rejects.toEqual(errorWithCode("last_opener", {}));
    await expect(rotate(laptop, [], {})).rejects.toEqual(errorWithCode("last_opener", {}));
    const { secretId } = await protect(laptop, textSecret("Third", makePicture("garden")), {});
    await expect(rotate(laptop, [makePicture("garden")], {})).rejects.toEqual(
      errorWithCode("last_opener", { secrets: 2 }),
    );
    const acceptedLosses = (await list(laptop)).map((row) => row.secretId).filter((id) => id !== secretId);
    await rotate(laptop, [makePicture("garden")], { acceptedLosses });
    expect(decodeContent(await openSmallSecret(laptop, secretId, makePicture("garden"), {}))).toBe("content of Third");
    await expect(openSmallSecret(laptop, acceptedLosses[0] ?? "", makePicture("garden"), {})).rejects.toEqual(
      errorWithCode("opener_needed"),
    );
  });

  it("ends requests that wait, and opens the answers that came before", async () => {
    const { world, laptop } = await openPreparedAccount();
    const [waitingRequest, answeredRequest] = [
      await createRequestWithProvider(world, laptop, { title: "The deed" }),
      await createRequestWithProvider(world, laptop, { title: "The key" }),
    ];
    await answeredRequest.provider.answer(makeTextAnswer("under the mat"));
    expect((await rotate(laptop, [makePicture("market")], {})).revokedRequestTitles).toEqual(["The deed"]);
    expect(storedRequest(world, waitingRequest.requestId).state).toBe("revoked");
    expect(
      decodeContent((await openAnswer(laptop, answeredRequest.requestId, makePicture("market"), {})) as never),
    ).toBe("under the mat");
  });

  it("keeps shares and their links, but for those of a content that is sealed anew: they end", async () => {
    const { adasVault: vault, share } = await createSharingWorld();
    const { shareId } = await share({});
    const before = await readShares(vault);
    await rotate(vault, [makePicture("market")], {});
    expect(await readShares(vault)).toEqual(before);
    expect(before).toEqual([[shareId, true, expect.any(String)]]);
    await addOpener(vault, { key: passkey(7), name: "Phone" }, null, {});
    await resealForAllOpeners(vault, makePicture("market"), {});
    await rotate(vault, [makePicture("market")], {});
    expect(await readShares(vault)).toEqual([[shareId, false, before[0]?.[2]]]);
  });

  it("done on two devices at the same time is done by one, and the other says so", async () => {
    const { world, laptop, ids, paper } = await openPreparedAccount();
    const tablet = await openUnlocked(world, "tablet");
    const outcomes = await Promise.allSettled([
      rotate(laptop, [makePicture("market"), paper], {}),
      rotate(tablet, [makePicture("market"), paper], {}),
    ]);
    expect(outcomes.some(({ status }) => status === "fulfilled")).toBe(true);
    for (const outcome of outcomes)
      if (outcome.status === "rejected")
        expect(["vault_locked", "state_conflict", "publication_not_seen"]).toContain(
          (outcome.reason as PortalError).code,
        );
    expect(requireKeyring(world).keyEpoch).toBe(2);
    await expectEverythingOpens(world, ids, "library");
  });

  it("can be done again", async () => {
    const { world, laptop, ids, paper } = await openPreparedAccount();
    await rotate(laptop, [makePicture("market"), paper], {});
    await rotate(laptop, [makePicture("market")], {});
    expect(requireKeyring(world).keyEpoch).toBe(3);
    await expectEverythingOpens(world, ids, "tablet");
  });

  it("begins on a locked device by the first opener that is shown", async () => {
    const { world, ids } = await openPreparedAccount();
    await rotate(await world.open("tablet"), [makePicture("market")], {});
    await expectEverythingOpens(world, ids, "library");
  });

  it("keeps the metadata keys of its own device in step, and a page loaded later is unlocked", async () => {
    const { world, laptop } = await openPreparedAccount();
    await setDeviceKind(laptop, "own");
    await rotate(laptop, [makePicture("market")], {});
    const again = await world.open();
    expect((await list(again)).map(({ label }) => label?.title).toSorted()).toEqual(["First", "Second"]);
  });

  it("seals what another device wrote meanwhile, too", async () => {
    const { world, laptop, phone, ids } = await openPreparedAccount();
    let writes = 0;
    world.service.beforeCall = async (call) => {
      if (call !== "PUT /user/keyring" || writes++ > 0) return;
      world.service.beforeCall = () => undefined;
      await update(phone, ids[1], { baseVersion: 1, title: "Renamed" }, {});
    };
    await rotate(laptop, [makePicture("market")], {});
    expect((await list(await openUnlocked(world, "tablet"))).map(({ label }) => label?.title).toSorted()).toEqual([
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
        world.service.transformAnswer = (call, answer) => {
          if (call === "PUT /user/keyring") world.service.account = earlier;
          return answer;
        };
      },
    ],
    [
      "gives the slots of before",
      "publication_not_seen",
      (world) => {
        const { slots } = requireKeyring(world);
        world.service.transformAnswer = (call, answer) =>
          call === "GET /user/keyring" && requireKeyring(world).keyEpoch === 2
            ? { ...(answer as Keyring), slots }
            : answer;
      },
    ],
    [
      "gives the book of before",
      "older_state",
      (world) => {
        const { book } = requireKeyring(world);
        world.service.transformAnswer = (call, answer) =>
          call === "GET /user/keyring" && requireKeyring(world).keyEpoch === 2
            ? { ...(answer as Keyring), book }
            : answer;
      },
    ],
    [
      "drops a staged row for good",
      "list_mismatch",
      (world) => {
        world.service.transformAnswer = (call, answer) => {
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
        world.service.transformAnswer = (call, answer) => {
          if (call === "POST /user/keyring/stage") alterStagedRow(world.service.account);
          return answer;
        };
      },
    ],
    [
      "alters a staged row, and says that it is the one that was sent",
      "state_conflict",
      (world) => {
        let honestAnswer: unknown = null;
        world.service.transformAnswer = (call, answer) => {
          if (!call.startsWith("GET /user/keyring/stage/")) return answer;
          honestAnswer = answer;
          alterStagedRow(world.service.account);
          return honestAnswer;
        };
      },
    ],
  ])("that %s is not believed", async (_, expected, corrupt) => {
    const { world, laptop, ids } = await openPreparedAccount();
    corrupt(world);
    await expect(rotate(laptop, [makePicture("market")], {})).rejects.toEqual(errorWithCode(expected));
    expect(laptop.keys?.keyEpoch).toBe(1);
    world.service.transformAnswer = (_call, answer) => answer;
    await expectEverythingOpens(world, ids, "tablet"); // before or after, nothing is lost
  });

  it("that loses a staged row once is given it again", async () => {
    const { world, laptop, ids } = await openPreparedAccount();
    let done = false;
    world.service.transformAnswer = (call, answer) => {
      if (call === "POST /user/keyring/stage" && !done) {
        done = true;
        alterStagedRow(world.service.account);
      }
      return answer;
    };
    await rotate(laptop, [makePicture("market")], {});
    await expectEverythingOpens(world, ids, "tablet");
  });

  it("that keeps the answer to itself is asked what became of it", async () => {
    const { world, laptop, ids } = await openPreparedAccount();
    world.service.transformAnswer = (call, answer) => {
      if (call === "PUT /user/keyring") throw new PortalError("service_unavailable");
      return answer;
    };
    await rotate(laptop, [makePicture("market")], {});
    expect(laptop.keys?.keyEpoch).toBe(2);
    await expectEverythingOpens(world, ids, "tablet");
  });
});

describe("a rotation that is killed", () => {
  it("at any of its calls leaves one consistent account, and is done by going on", () => interruptRotations(2));

  it("by the person stops before anything is changed", async () => {
    const { world, laptop, ids } = await openPreparedAccount();
    const controller = new AbortController();
    const stoppedRotation = rotate(laptop, [makePicture("market")], {
      signal: controller.signal,
      onProgress: ({ phase, done }) => {
        if (phase === "sealing" && done === 1) controller.abort();
      },
    });
    await expect(stoppedRotation).rejects.toEqual(errorWithCode("cancelled"));
    expect(requireKeyring(world).keyEpoch).toBe(1);
    await rotate(laptop, [makePicture("market")], {});
    await expectEverythingOpens(world, ids, "tablet");
  });
});
