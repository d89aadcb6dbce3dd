import "fake-indexeddb/auto";

import type { Keyring } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { readAccount } from "../keyring/read-account.ts";
import { alterStagedRow } from "../testing/fake-account.ts";
import { createSharingWorld } from "../testing/sharing-world.ts";
import { makePicture, textSecret, type World } from "../testing/world.ts";
import type { PresentedPicture } from "../rpc/presented-opener.ts";
import { replaceImage } from "./replace-image.ts";
import { listOpeners } from "./openers.ts";
import { protect } from "./protect.ts";
import { openSmallSecret } from "./open-secret.ts";
import { rotateAccountKey } from "./rotate.ts";
import {
  expectEverythingOpens,
  interruptReplacements,
  originalPicture,
  openPreparedAccount,
  passphraseReplacement,
} from "./testing/image-replacement.ts";
import { unlock } from "../openers/unlock.ts";

const errorWithCode = (expectedCode: string): unknown => expect.objectContaining({ code: expectedCode });
const decodeContent = ({ content }: { readonly content: Uint8Array }): string => new TextDecoder().decode(content);
const harbourReplacement = { presentedPicture: makePicture("harbour"), name: "The harbour" };

const requireKeyring = (world: World): NonNullable<World["service"]["account"]["keyring"]> => {
  const { keyring } = world.service.account;
  if (keyring === null) throw new TypeError("expected a keyring");
  return keyring;
};

const latestRev = (world: World): number => Math.max(...requireKeyring(world).states.map(({ state_rev: rev }) => rev));

describe("replaceImage", () => {
  it("adds a passphrase, which everything then needs; copies still open", async () => {
    const { world, laptop, ids, paper } = await openPreparedAccount();
    const progressEvents: string[] = [];
    const { openerId } = await replaceImage(laptop, originalPicture, passphraseReplacement, {
      onProgress: ({ phase, done, total }) => progressEvents.push(`${phase} ${String(done)} of ${String(total)}`),
    });
    expect(progressEvents).toEqual(expect.arrayContaining(["sealing 0 of 2", "sealing 2 of 2", "sending 1 of 1"]));
    expect((await listOpeners(laptop)).openers.map(({ id, name, secretCount }) => [id, name, secretCount])).toEqual([
      [openerId, "The market", 2],
      [expect.any(String), "Paper", 2],
    ]);
    await expectEverythingOpens(world, ids, makePicture("market/small", "nine stones"), "tablet");
    expect(decodeContent(await openSmallSecret(await world.open("library"), ids[1], paper, {}))).toBe(
      "content of Second",
    );
    for (const wrong of [originalPicture, makePicture("market", "nine stone")])
      await expect(unlock(await world.open("other"), wrong, {})).rejects.toEqual(
        errorWithCode("not_this_picture_or_passphrase"),
      );
    expect(requireKeyring(world).slots).toHaveLength(2);
    expect(await laptop.service.getImageRecords()).toMatchObject([{ id: openerId }]);
  });

  it("publishes no slot of a former account key when a rotation runs between sealing and switching", async () => {
    const { world, laptop } = await openPreparedAccount();
    const phone = await world.open("phone");
    (await unlock(phone, originalPicture, {})).opener.wipe();
    const enrol = jest.spyOn(laptop.engine, "enrol");
    const { getKeyring } = laptop.service;
    let isRotated = false;
    Object.assign(laptop.service, {
      getKeyring: async (...args: Parameters<typeof getKeyring>) => {
        if (enrol.mock.calls.length > 0 && !isRotated) {
          isRotated = true;
          await rotateAccountKey(phone, [originalPicture], {});
          (await unlock(laptop, originalPicture, {})).opener.wipe();
        }
        return getKeyring(...args);
      },
    });
    await expect(replaceImage(laptop, originalPicture, harbourReplacement, {})).rejects.toEqual(
      errorWithCode("openers_changed"),
    );
    expect(isRotated).toBe(true);
    expect(requireKeyring(world).slots).toHaveLength(1);
    (await unlock(await world.open("tablet"), originalPicture, {})).opener.wipe();
  });

  it("changes the passphrase, and removes it", async () => {
    const { world, laptop, ids } = await openPreparedAccount();
    await replaceImage(laptop, originalPicture, passphraseReplacement, {});
    await replaceImage(
      laptop,
      passphraseReplacement.presentedPicture,
      { presentedPicture: makePicture("market", "ten stones"), name: "The market" },
      {},
    );
    await expectEverythingOpens(world, ids, makePicture("market", "ten stones"), "tablet");
    await replaceImage(
      laptop,
      makePicture("market", "ten stones"),
      { presentedPicture: originalPicture, name: "The market" },
      {},
    );
    await expectEverythingOpens(world, ids, originalPicture, "library");
    await expect(unlock(await world.open("other"), makePicture("market", "ten stones"), {})).rejects.toEqual(
      errorWithCode("plain_helper_refused"),
    );
  });

  it("uses another picture, and re-seals tickets, former versions and contents", async () => {
    const { world, laptop, ids } = await openPreparedAccount();
    const readVersions = (): { ticket: string; content: string }[] =>
      ids.flatMap((id) =>
        (world.service.account.rows.get(id)?.versions ?? []).map(({ ticket, content }) => ({ ticket, content })),
      );
    const versionsBefore = readVersions();
    await replaceImage(laptop, originalPicture, harbourReplacement, {});
    for (const [index, { ticket, content }] of readVersions().entries()) {
      expect(ticket).not.toBe(versionsBefore[index]?.ticket);
      expect(content).not.toBe(versionsBefore[index]?.content);
    }
    await expectEverythingOpens(world, ids, harbourReplacement.presentedPicture, "tablet");
    await expect(unlock(await world.open("other"), originalPicture, {})).rejects.toEqual(
      errorWithCode("not_this_picture"),
    );
    expect(await protect(laptop, textSecret("Third", harbourReplacement.presentedPicture), {})).toMatchObject({
      secretId: expect.any(String),
    });
  });

  it("re-seals a secret that was protected with a second image", async () => {
    const { world, laptop } = await openPreparedAccount();
    const { openerId } = await replaceImage(laptop, originalPicture, harbourReplacement, {});
    const { secretId } = await protect(laptop, { ...textSecret("Third", makePicture("garden")) }, {});
    const readTicket = (): string | undefined => world.service.account.rows.get(secretId)?.versions[0]?.ticket;
    const openerIds = (await listOpeners(laptop)).secrets.find((openers) => openers.secretId === secretId)?.openerIds;
    expect(openerIds).toContain(openerId); // a new picture seals to all openers
    const ticketBefore = readTicket();
    await replaceImage(laptop, makePicture("garden"), { presentedPicture: makePicture("lake"), name: "The lake" }, {});
    expect(readTicket()).not.toBe(ticketBefore);
    expect(decodeContent(await openSmallSecret(await world.open("tablet"), secretId, makePicture("lake"), {}))).toBe(
      "content of Third",
    );
  });

  it("unlocks a locked device with the current picture", async () => {
    const { world, ids } = await openPreparedAccount();
    await replaceImage(await world.open("tablet"), originalPicture, passphraseReplacement, {});
    await expectEverythingOpens(world, ids, passphraseReplacement.presentedPicture, "library");
  });

  it("ends shares of re-sealed contents", async () => {
    const { adasVault: vault, share } = await createSharingWorld();
    const { shareId } = await share({});
    await replaceImage(vault, originalPicture, { presentedPicture: makePicture("garden"), name: "The garden" }, {});
    const openedKeyring = (await readAccount(vault))?.view.openedKeyring;
    expect(
      openedKeyring?.shares.shares.map(({ share_id: id, revoked_at: revokedAt }) => [id, revokedAt !== null]),
    ).toEqual([[shareId, true]]);
  });

  it.each<[string, PresentedPicture, { presentedPicture: PresentedPicture; name: string }, string]>([
    ["a picture that is no opener", makePicture("garden"), harbourReplacement, "not_this_picture"],
    [
      "the picture of another opener",
      originalPicture,
      { presentedPicture: makePicture("garden"), name: "The garden" },
      "picture_resembles_another",
    ],
    ["an empty name", originalPicture, { ...harbourReplacement, name: "" }, "validation_error"],
  ])("refuses %s, and changes nothing", async (_case, currentPicture, replacement, expectedCode) => {
    const { world, laptop, ids } = await openPreparedAccount();
    if (expectedCode === "picture_resembles_another")
      await protect(laptop, textSecret("Third", makePicture("garden")), {});
    const rev = latestRev(world);
    await expect(replaceImage(laptop, currentPicture, replacement, {})).rejects.toEqual(errorWithCode(expectedCode));
    expect(latestRev(world)).toBe(rev);
    expect(decodeContent(await openSmallSecret(laptop, ids[0], originalPicture, {}))).toBe("second text");
  });

  it("happens once when two devices try at the same time", async () => {
    const { world, laptop, ids } = await openPreparedAccount();
    const tablet = await world.open("tablet");
    const outcomes = await Promise.allSettled([
      replaceImage(laptop, originalPicture, harbourReplacement, {}),
      replaceImage(tablet, originalPicture, passphraseReplacement, {}),
    ]);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === "rejected")
        expect([
          "openers_changed",
          "state_conflict",
          "publication_not_seen",
          "not_this_picture",
          "not_this_picture_or_passphrase",
        ]).toContain((outcome.reason as PortalError).code);
    await expectEverythingOpens(
      world,
      ids,
      outcomes[0].status === "fulfilled" ? harbourReplacement.presentedPicture : passphraseReplacement.presentedPicture,
      "library",
    );
  });
});

describe("a hostile service", () => {
  const hasChanged = (world: World, revBefore: number): boolean => latestRev(world) > revBefore;
  it.each<[string, string, (world: World, rev: number) => void]>([
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
      (world, rev) => {
        const { slots } = requireKeyring(world);
        world.service.transformResponse = (call, response) =>
          call === "GET /user/keyring" && hasChanged(world, rev) ? { ...(response as Keyring), slots } : response;
      },
    ],
    [
      "returns the former slots next to the new ones",
      "publication_not_seen",
      (world, rev) => {
        const { slots } = requireKeyring(world);
        world.service.transformResponse = (call, response) =>
          call === "GET /user/keyring" && hasChanged(world, rev)
            ? { ...(response as Keyring), slots: [...(response as Keyring).slots, ...slots] }
            : response;
      },
    ],
    [
      "returns the former book",
      "older_state",
      (world, rev) => {
        const { book } = requireKeyring(world);
        world.service.transformResponse = (call, response) =>
          call === "GET /user/keyring" && hasChanged(world, rev) ? { ...(response as Keyring), book } : response;
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
        world.service.transformResponse = (call, response) => {
          if (call.startsWith("GET /user/keyring/stage/")) alterStagedRow(world.service.account);
          return response;
        };
      },
    ],
  ])("that %s is detected", async (_, expectedCode, corrupt) => {
    const { world, laptop, ids } = await openPreparedAccount();
    corrupt(world, latestRev(world));
    await expect(replaceImage(laptop, originalPicture, passphraseReplacement, {})).rejects.toEqual(
      errorWithCode(expectedCode),
    );
    world.service.transformResponse = (_call, response) => response;
    const isDone =
      requireKeyring(world).slots.length === 2 &&
      (await unlock(await world.open("look"), originalPicture, {}).then(
        ({ opener }) => (opener.wipe(), false),
        () => true,
      ));
    // whether switched or not, nothing is lost
    await expectEverythingOpens(
      world,
      ids,
      isDone ? passphraseReplacement.presentedPicture : originalPicture,
      "tablet",
    );
  });

  it("that loses a staged row once receives that row again", async () => {
    const { world, laptop, ids } = await openPreparedAccount();
    let stagedCount = 0;
    world.service.transformResponse = (call, response) => {
      if (call === "POST /user/keyring/stage" && stagedCount++ === 0) alterStagedRow(world.service.account);
      return response;
    };
    await replaceImage(laptop, originalPicture, passphraseReplacement, {});
    expect(stagedCount).toBeGreaterThan(1);
    await expectEverythingOpens(world, ids, passphraseReplacement.presentedPicture, "tablet");
  });

  it("that withholds the response is detected by reading the account again", async () => {
    const { world, laptop, ids } = await openPreparedAccount();
    world.service.transformResponse = (call, response) => {
      if (call === "PUT /user/keyring") throw new PortalError("service_unavailable");
      return response;
    };
    await replaceImage(laptop, originalPicture, passphraseReplacement, {});
    await expectEverythingOpens(world, ids, passphraseReplacement.presentedPicture, "tablet");
  });
});

describe("an interrupted replacement", () => {
  it("leaves one consistent account after any call, and can be repeated", () => interruptReplacements(2));
});
