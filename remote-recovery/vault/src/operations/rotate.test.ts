import "fake-indexeddb/auto";

import type { Keyring } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { openLabel, parseUnverifiedRev } from "../seal/label.ts";
import { openSharesInner } from "../seal/shares.ts";
import { readAccount } from "../keyring/read-account.ts";
import { alterStagedRow, lastOf } from "../testing/fake-account.ts";
import { createRequestWithSender, requireStoredRequest, makeTextAnswer } from "../testing/request-sender.ts";
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
import { rotateAccountKey } from "./rotate.ts";
import {
  expectEverythingOpens,
  requireKeyring,
  interruptRotations,
  makePasskey,
  openPreparedAccount,
  openUnlocked,
} from "./testing/account-rotation.ts";
import { setDeviceKind } from "./set-device-kind.ts";
import { unlock } from "../openers/unlock.ts";
import { update } from "./update.ts";

const errorWithCode = (expectedCode: string, details?: unknown): unknown =>
  expect.objectContaining({ code: expectedCode, ...(details === undefined ? {} : { details }) });
const decodeContent = ({ content }: { readonly content: Uint8Array }): string => new TextDecoder().decode(content);

/** For each share: its id, whether it is live in the sealed document, and its link key. */
async function readShares(vault: VaultSession): Promise<(string | boolean | null | undefined)[][]> {
  const openedKeyring = (await readAccount(vault))?.view.openedKeyring;
  if (openedKeyring == null || vault.accountKey === null)
    throw new TypeError("expected an account key after presenting an opener");
  const { shares } = await openSharesInner(vault.accountKey, vault.userId, openedKeyring.shares);
  return openedKeyring.shares.shares.map(({ share_id: id, revoked_at: revokedAt }) => [
    id,
    revokedAt === null,
    shares.find((innerShare) => innerShare.share_id === id)?.link_key,
  ]);
}

describe("rotate", () => {
  it("gives the account another key: presented openers open everything, the lost opener opens nothing", async () => {
    const { world, laptop, phone, ids, paper } = await openPreparedAccount();
    const keyringBefore = requireKeyring(world);
    const progressEvents: string[] = [];
    const { removedOpenerIds } = await rotateAccountKey(laptop, [makePicture("market"), paper], {
      onProgress: ({ phase, done: isAltered, total }) =>
        progressEvents.push(`${phase} ${String(isAltered)} of ${String(total)}`),
    });
    expect(removedOpenerIds).toHaveLength(1);
    expect(progressEvents).toEqual(expect.arrayContaining(["sealing 0 of 2", "sealing 2 of 2", "sending 1 of 1"]));
    const keyringAfter = requireKeyring(world);
    expect(keyringAfter).toMatchObject({ keyEpoch: 2, keyStatement: { key_epoch: 2 } });
    expect(keyringAfter.keyStatement.signing_key).not.toBe(keyringBefore.keyStatement.signing_key);
    expect(keyringAfter.slots).toHaveLength(2);
    expect((await listOpeners(laptop)).openers.map(({ name }) => name)).toEqual(["The market", "Paper"]);
    await expectEverythingOpens(world, ids, "tablet");
    expect(decodeContent(await openSmallSecret(await world.open("library"), ids[1], paper, {}))).toBe(
      "content of Second",
    );
    await expect(unlock(await world.open("other"), makePasskey(7), {})).rejects.toEqual(
      errorWithCode("not_this_passkey"),
    );
    await expect(openSmallSecret(phone, ids[1], makePasskey(7), {})).rejects.toEqual(errorWithCode("not_this_passkey"));
    await protect(laptop, textSecret("Third"), {});
    expect((await list(laptop)).map(({ label }) => label?.title).toSorted()).toEqual(["First", "Second", "Third"]);
  });

  it("makes the lost device's metadata keys useless for new labels and changes", async () => {
    const { world, laptop, phone, ids } = await openPreparedAccount();
    const { keys } = phone;
    if (keys === null) throw new TypeError("expected an unlocked vault");
    await rotateAccountKey(laptop, [makePicture("market")], {});
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

  it("re-seals tickets, former versions and contents that lose an opener", async () => {
    const { world, laptop, ids } = await openPreparedAccount();
    const readVersions = (): { ticket: string; content: string }[] =>
      ids.flatMap((id) =>
        (world.service.account.rows.get(id)?.versions ?? []).map(({ ticket, content }) => ({ ticket, content })),
      );
    const versionsBefore = readVersions();
    await rotateAccountKey(laptop, [makePicture("market")], {});
    for (const [index, { ticket, content }] of readVersions().entries()) {
      expect(ticket).not.toBe(versionsBefore[index]?.ticket);
      expect(content).not.toBe(versionsBefore[index]?.content);
    }
  });

  it("keeps contents and the newest tickets when every opener is presented", async () => {
    const { world, laptop, ids, paper } = await openPreparedAccount();
    const versionBefore = structuredClone(world.service.account.rows.get(ids[1])?.versions[0]);
    expect(
      await rotateAccountKey(laptop, [makePicture("market"), paper, makePasskey(7), makePicture("market")], {}),
    ).toEqual({
      removedOpenerIds: [],
      revokedRequestTitles: [],
    });
    const versionAfter = world.service.account.rows.get(ids[1])?.versions[0];
    expect([versionAfter?.ticket, versionAfter?.content]).toEqual([versionBefore?.ticket, versionBefore?.content]);
    expect(versionAfter?.label).not.toBe(versionBefore?.label);
    await expectEverythingOpens(world, ids, "tablet");
  });

  it("works for an account without secrets", async () => {
    const world = createWorld();
    const laptop = await world.open();
    const { secretId } = await protect(laptop, textSecret("First", makePicture("market")), {});
    await laptop.service.trash(secretId);
    await purge(laptop, [secretId], {});
    await rotateAccountKey(laptop, [makePicture("market")], {});
    expect(requireKeyring(world).keyEpoch).toBe(2);
    expect(await list(await openUnlocked(world, "tablet"))).toEqual([]);
  });

  it("needs a picture, and loses secrets only when they are named", async () => {
    const { laptop, paper } = await openPreparedAccount();
    await expect(rotateAccountKey(laptop, [paper], {})).rejects.toEqual(errorWithCode("last_opener", {}));
    await expect(rotateAccountKey(laptop, [], {})).rejects.toEqual(errorWithCode("last_opener", {}));
    const { secretId } = await protect(laptop, textSecret("Third", makePicture("garden")), {});
    await expect(rotateAccountKey(laptop, [makePicture("garden")], {})).rejects.toEqual(
      errorWithCode("last_opener", { secrets: 2 }),
    );
    const acceptedLosses = (await list(laptop)).map((row) => row.secretId).filter((id) => id !== secretId);
    await rotateAccountKey(laptop, [makePicture("garden")], { acceptedLosses });
    expect(decodeContent(await openSmallSecret(laptop, secretId, makePicture("garden"), {}))).toBe("content of Third");
    await expect(openSmallSecret(laptop, acceptedLosses[0] ?? "", makePicture("garden"), {})).rejects.toEqual(
      errorWithCode("opener_needed"),
    );
  });

  it("revokes waiting requests, and still opens earlier answers", async () => {
    const { world, laptop } = await openPreparedAccount();
    const [waitingRequest, answeredRequest] = [
      await createRequestWithSender(world, laptop, { title: "The deed" }),
      await createRequestWithSender(world, laptop, { title: "The key" }),
    ];
    await answeredRequest.sender.answer(makeTextAnswer("under the mat"));
    expect((await rotateAccountKey(laptop, [makePicture("market")], {})).revokedRequestTitles).toEqual(["The deed"]);
    expect(requireStoredRequest(world, waitingRequest.requestId).state).toBe("revoked");
    expect(
      decodeContent((await openAnswer(laptop, answeredRequest.requestId, makePicture("market"), {})) as never),
    ).toBe("under the mat");
  });

  it("keeps shares and their links, but ends shares of re-sealed contents", async () => {
    const { adasVault: vault, share } = await createSharingWorld();
    const { shareId } = await share({});
    const sharesBefore = await readShares(vault);
    await rotateAccountKey(vault, [makePicture("market")], {});
    expect(await readShares(vault)).toEqual(sharesBefore);
    expect(sharesBefore).toEqual([[shareId, true, expect.any(String)]]);
    await addOpener(vault, { key: makePasskey(7), name: "Phone" }, null, {});
    await resealForAllOpeners(vault, makePicture("market"), {});
    await rotateAccountKey(vault, [makePicture("market")], {});
    expect(await readShares(vault)).toEqual([[shareId, false, sharesBefore[0]?.[2]]]);
  });

  it("happens once when two devices try at the same time", async () => {
    const { world, laptop, ids, paper } = await openPreparedAccount();
    const tablet = await openUnlocked(world, "tablet");
    const outcomes = await Promise.allSettled([
      rotateAccountKey(laptop, [makePicture("market"), paper], {}),
      rotateAccountKey(tablet, [makePicture("market"), paper], {}),
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

  it("can be repeated", async () => {
    const { world, laptop, ids, paper } = await openPreparedAccount();
    await rotateAccountKey(laptop, [makePicture("market"), paper], {});
    await rotateAccountKey(laptop, [makePicture("market")], {});
    expect(requireKeyring(world).keyEpoch).toBe(3);
    await expectEverythingOpens(world, ids, "tablet");
  });

  it("unlocks a locked device with the first presented opener", async () => {
    const { world, ids } = await openPreparedAccount();
    await rotateAccountKey(await world.open("tablet"), [makePicture("market")], {});
    await expectEverythingOpens(world, ids, "library");
  });

  it("saves the new metadata keys on an own device, so that a page loaded later is unlocked", async () => {
    const { world, laptop } = await openPreparedAccount();
    await setDeviceKind(laptop, "own");
    await rotateAccountKey(laptop, [makePicture("market")], {});
    const reloaded = await world.open();
    expect((await list(reloaded)).map(({ label }) => label?.title).toSorted()).toEqual(["First", "Second"]);
  });

  it("also re-seals what another device wrote meanwhile", async () => {
    const { world, laptop, phone, ids } = await openPreparedAccount();
    let putCount = 0;
    world.service.beforeCall = async (call) => {
      if (call !== "PUT /user/keyring" || putCount++ > 0) return;
      world.service.beforeCall = () => undefined;
      await update(phone, ids[1], { baseVersion: 1, title: "Renamed" }, {});
    };
    await rotateAccountKey(laptop, [makePicture("market")], {});
    expect((await list(await openUnlocked(world, "tablet"))).map(({ label }) => label?.title).toSorted()).toEqual([
      "First",
      "Renamed",
    ]);
  });
});

describe("a hostile service", () => {
  it.each<[string, string, (world: World) => void]>([
    [
      "claims success without switching",
      "publication_not_seen",
      (world) => {
        const accountBefore = world.service.snapshot();
        world.service.transformResponse = (call, response) => {
          if (call === "PUT /user/keyring") world.service.account = accountBefore;
          return response;
        };
      },
    ],
    [
      "returns the former slots",
      "publication_not_seen",
      (world) => {
        const { slots } = requireKeyring(world);
        world.service.transformResponse = (call, response) =>
          call === "GET /user/keyring" && requireKeyring(world).keyEpoch === 2
            ? { ...(response as Keyring), slots }
            : response;
      },
    ],
    [
      "returns the former book",
      "older_state",
      (world) => {
        const { book } = requireKeyring(world);
        world.service.transformResponse = (call, response) =>
          call === "GET /user/keyring" && requireKeyring(world).keyEpoch === 2
            ? { ...(response as Keyring), book }
            : response;
      },
    ],
    [
      "always drops a staged row",
      "list_mismatch",
      (world) => {
        world.service.transformResponse = (call, response) => {
          if (call === "POST /user/keyring/stage")
            world.service.account.stage?.rows.delete([...world.service.account.stage.rows.keys()][0] ?? "");
          return response;
        };
      },
    ],
    [
      "always alters a staged row",
      "list_mismatch",
      (world) => {
        world.service.transformResponse = (call, response) => {
          if (call === "POST /user/keyring/stage") alterStagedRow(world.service.account);
          return response;
        };
      },
    ],
    [
      "alters a staged row, and reports the digest of what was sent",
      "state_conflict",
      (world) => {
        let honestAnswer: unknown = null;
        world.service.transformResponse = (call, response) => {
          if (!call.startsWith("GET /user/keyring/stage/")) return response;
          honestAnswer = response;
          alterStagedRow(world.service.account);
          return honestAnswer;
        };
      },
    ],
  ])("that %s is detected", async (_, expectedCode, corrupt) => {
    const { world, laptop, ids } = await openPreparedAccount();
    corrupt(world);
    await expect(rotateAccountKey(laptop, [makePicture("market")], {})).rejects.toEqual(errorWithCode(expectedCode));
    expect(laptop.keys?.keyEpoch).toBe(1);
    world.service.transformResponse = (_call, response) => response;
    await expectEverythingOpens(world, ids, "tablet"); // whether switched or not, nothing is lost
  });

  it("that loses a staged row once receives that row again", async () => {
    const { world, laptop, ids } = await openPreparedAccount();
    let isAltered = false;
    world.service.transformResponse = (call, response) => {
      if (call === "POST /user/keyring/stage" && !isAltered) {
        isAltered = true;
        alterStagedRow(world.service.account);
      }
      return response;
    };
    await rotateAccountKey(laptop, [makePicture("market")], {});
    await expectEverythingOpens(world, ids, "tablet");
  });

  it("that withholds the response is detected by reading the account again", async () => {
    const { world, laptop, ids } = await openPreparedAccount();
    world.service.transformResponse = (call, response) => {
      if (call === "PUT /user/keyring") throw new PortalError("service_unavailable");
      return response;
    };
    await rotateAccountKey(laptop, [makePicture("market")], {});
    expect(laptop.keys?.keyEpoch).toBe(2);
    await expectEverythingOpens(world, ids, "tablet");
  });
});

describe("an interrupted rotation", () => {
  it("leaves one consistent account after any call, and can be repeated", () => interruptRotations(2));

  it("changes nothing when the person cancels", async () => {
    const { world, laptop, ids } = await openPreparedAccount();
    const controller = new AbortController();
    const stoppedRotation = rotateAccountKey(laptop, [makePicture("market")], {
      signal: controller.signal,
      onProgress: ({ phase, done: isAltered }) => {
        if (phase === "sealing" && isAltered === 1) controller.abort();
      },
    });
    await expect(stoppedRotation).rejects.toEqual(errorWithCode("cancelled"));
    expect(requireKeyring(world).keyEpoch).toBe(1);
    await rotateAccountKey(laptop, [makePicture("market")], {});
    await expectEverythingOpens(world, ids, "tablet");
  });
});
