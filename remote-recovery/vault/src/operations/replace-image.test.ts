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
import {
  expectEverythingOpens,
  interruptReplacements,
  originalPicture,
  openPreparedAccount,
  withPassphrase,
} from "./testing/image-replacement.ts";
import { unlock } from "../openers/unlock.ts";

const errorWithCode = (expected: string): unknown => expect.objectContaining({ code: expected });
const decodeContent = ({ content }: { readonly content: Uint8Array }): string => new TextDecoder().decode(content);
const harbour = { presentedPicture: makePicture("harbour"), name: "The harbour" };

const requireKeyring = (world: World): NonNullable<World["service"]["account"]["keyring"]> => {
  const { keyring } = world.service.account;
  if (keyring === null) throw new TypeError("there is no keyring");
  return keyring;
};

const latestRev = (world: World): number => Math.max(...requireKeyring(world).states.map(({ state_rev: rev }) => rev));

describe("changeImage", () => {
  it("gives a picture a passphrase: without it nothing opens any more, with it everything, and copies go on to open", async () => {
    const { world, laptop, ids, paper } = await openPreparedAccount();
    const progress: string[] = [];
    const { openerId } = await replaceImage(laptop, originalPicture, withPassphrase, {
      onProgress: ({ phase, done, total }) => progress.push(`${phase} ${String(done)} of ${String(total)}`),
    });
    expect(progress).toEqual(expect.arrayContaining(["sealing 0 of 2", "sealing 2 of 2", "sending 1 of 1"]));
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

  it("takes another passphrase, and none again", async () => {
    const { world, laptop, ids } = await openPreparedAccount();
    await replaceImage(laptop, originalPicture, withPassphrase, {});
    await replaceImage(
      laptop,
      withPassphrase.presentedPicture,
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

  it("puts another picture in its place, and seals tickets, former versions and contents anew", async () => {
    const { world, laptop, ids } = await openPreparedAccount();
    const readVersions = (): { ticket: string; content: string }[] =>
      ids.flatMap((id) =>
        (world.service.account.rows.get(id)?.versions ?? []).map(({ ticket, content }) => ({ ticket, content })),
      );
    const before = readVersions();
    await replaceImage(laptop, originalPicture, harbour, {});
    for (const [index, { ticket, content }] of readVersions().entries()) {
      expect(ticket).not.toBe(before[index]?.ticket);
      expect(content).not.toBe(before[index]?.content);
    }
    await expectEverythingOpens(world, ids, harbour.presentedPicture, "tablet");
    await expect(unlock(await world.open("other"), originalPicture, {})).rejects.toEqual(
      errorWithCode("not_this_picture"),
    );
    expect(await protect(laptop, textSecret("Third", harbour.presentedPicture), {})).toMatchObject({
      secretId: expect.any(String),
    });
  });

  it("leaves the tickets of secrets that it does not open", async () => {
    const { world, laptop } = await openPreparedAccount();
    const { openerId } = await replaceImage(laptop, originalPicture, harbour, {});
    const { secretId } = await protect(laptop, { ...textSecret("Third", makePicture("garden")) }, {});
    const readTicket = (): string | undefined => world.service.account.rows.get(secretId)?.versions[0]?.ticket;
    const openerIds = (await listOpeners(laptop)).secrets.find((openers) => openers.secretId === secretId)?.openers;
    expect(openerIds).toContain(openerId); // a new picture seals to all that there are
    const before = readTicket();
    await replaceImage(laptop, makePicture("garden"), { presentedPicture: makePicture("lake"), name: "The lake" }, {});
    expect(readTicket()).not.toBe(before);
    expect(decodeContent(await openSmallSecret(await world.open("tablet"), secretId, makePicture("lake"), {}))).toBe(
      "content of Third",
    );
  });

  it("begins on a locked device, by the picture as it is", async () => {
    const { world, ids } = await openPreparedAccount();
    await replaceImage(await world.open("tablet"), originalPicture, withPassphrase, {});
    await expectEverythingOpens(world, ids, withPassphrase.presentedPicture, "library");
  });

  it("ends shares of a content that is sealed anew, and keeps their keys", async () => {
    const { adasVault: vault, share } = await createSharingWorld();
    const { shareId } = await share({});
    await replaceImage(vault, originalPicture, { presentedPicture: makePicture("garden"), name: "The garden" }, {});
    const openedKeyring = (await readAccount(vault))?.view.openedKeyring;
    expect(
      openedKeyring?.shares.shares.map(({ share_id: id, revoked_at: revokedAt }) => [id, revokedAt !== null]),
    ).toEqual([[shareId, true]]);
  });

  it.each<[string, PresentedPicture, { presentedPicture: PresentedPicture; name: string }, string]>([
    ["what is no picture of the account", makePicture("garden"), harbour, "not_this_picture"],
    [
      "a picture that another way has",
      originalPicture,
      { presentedPicture: makePicture("garden"), name: "The garden" },
      "picture_resembles_another",
    ],
    ["a name that says nothing", originalPicture, { ...harbour, name: "" }, "validation_error"],
  ])("refuses %s, and changes nothing", async (_case, current, replacement, expected) => {
    const { world, laptop, ids } = await openPreparedAccount();
    if (expected === "picture_resembles_another") await protect(laptop, textSecret("Third", makePicture("garden")), {});
    const rev = latestRev(world);
    await expect(replaceImage(laptop, current, replacement, {})).rejects.toEqual(errorWithCode(expected));
    expect(latestRev(world)).toBe(rev);
    expect(decodeContent(await openSmallSecret(laptop, ids[0], originalPicture, {}))).toBe("second text");
  });

  it("done on two devices at the same time is done by one, and the other says so", async () => {
    const { world, laptop, ids } = await openPreparedAccount();
    const tablet = await world.open("tablet");
    const outcomes = await Promise.allSettled([
      replaceImage(laptop, originalPicture, harbour, {}),
      replaceImage(tablet, originalPicture, withPassphrase, {}),
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
      outcomes[0].status === "fulfilled" ? harbour.presentedPicture : withPassphrase.presentedPicture,
      "library",
    );
  });
});

describe("a hostile service", () => {
  const hasChanged = (world: World, before: number): boolean => latestRev(world) > before;
  it.each<[string, string, (world: World, rev: number) => void]>([
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
      (world, rev) => {
        const { slots } = requireKeyring(world);
        world.service.transformAnswer = (call, answer) =>
          call === "GET /user/keyring" && hasChanged(world, rev) ? { ...(answer as Keyring), slots } : answer;
      },
    ],
    [
      "gives the slot of before beside the new one",
      "publication_not_seen",
      (world, rev) => {
        const { slots } = requireKeyring(world);
        world.service.transformAnswer = (call, answer) =>
          call === "GET /user/keyring" && hasChanged(world, rev)
            ? { ...(answer as Keyring), slots: [...(answer as Keyring).slots, ...slots] }
            : answer;
      },
    ],
    [
      "gives the book of before",
      "older_state",
      (world, rev) => {
        const { book } = requireKeyring(world);
        world.service.transformAnswer = (call, answer) =>
          call === "GET /user/keyring" && hasChanged(world, rev) ? { ...(answer as Keyring), book } : answer;
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
        world.service.transformAnswer = (call, answer) => {
          if (call.startsWith("GET /user/keyring/stage/")) alterStagedRow(world.service.account);
          return answer;
        };
      },
    ],
  ])("that %s is not believed", async (_, expected, corrupt) => {
    const { world, laptop, ids } = await openPreparedAccount();
    corrupt(world, latestRev(world));
    await expect(replaceImage(laptop, originalPicture, withPassphrase, {})).rejects.toEqual(errorWithCode(expected));
    world.service.transformAnswer = (_call, answer) => answer;
    const isDone =
      requireKeyring(world).slots.length === 2 &&
      (await unlock(await world.open("look"), originalPicture, {}).then(
        ({ opener }) => (opener.wipe(), false),
        () => true,
      ));
    // before or after, nothing is lost
    await expectEverythingOpens(world, ids, isDone ? withPassphrase.presentedPicture : originalPicture, "tablet");
  });

  it("that loses a staged row once is given it again", async () => {
    const { world, laptop, ids } = await openPreparedAccount();
    let lost = 0;
    world.service.transformAnswer = (call, answer) => {
      if (call === "POST /user/keyring/stage" && lost++ === 0) alterStagedRow(world.service.account);
      return answer;
    };
    await replaceImage(laptop, originalPicture, withPassphrase, {});
    expect(lost).toBeGreaterThan(1);
    await expectEverythingOpens(world, ids, withPassphrase.presentedPicture, "tablet");
  });

  it("that keeps the answer to itself is asked what became of it", async () => {
    const { world, laptop, ids } = await openPreparedAccount();
    world.service.transformAnswer = (call, answer) => {
      if (call === "PUT /user/keyring") throw new PortalError("service_unavailable");
      return answer;
    };
    await replaceImage(laptop, originalPicture, withPassphrase, {});
    await expectEverythingOpens(world, ids, withPassphrase.presentedPicture, "tablet");
  });
});

describe("a change that is killed", () => {
  it("at any of its calls leaves one consistent account, and is done by going on", () => interruptReplacements(2));
});
