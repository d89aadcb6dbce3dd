import "fake-indexeddb/auto";

import type { Keyring } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { readAccount } from "../steps/read-account.ts";
import { alterStagedRow } from "../testing/fake-account.ts";
import { createSharingWorld } from "../testing/sharing-world.ts";
import { shown, textSecret, type World } from "../testing/world.ts";
import type { ShownPicture } from "../shown-image.ts";
import { changeImage } from "./change-image.ts";
import { listOpeners } from "./openers.ts";
import { protect } from "./protect.ts";
import { recover } from "./recover.ts";
import { isWhole, killChanges, old, settled, withPassphrase } from "./testing/changed-image.ts";
import { unlock } from "./unlock.ts";

const code = (expected: string): unknown => expect.objectContaining({ code: expected });
const plain = ({ content }: { readonly content: Uint8Array }): string => new TextDecoder().decode(content);
const harbour = { shown: shown("harbour"), name: "The harbour" };

const keyringOf = (world: World): NonNullable<World["service"]["account"]["keyring"]> => {
  const { keyring } = world.service.account;
  if (keyring === null) throw new TypeError("there is no keyring");
  return keyring;
};

const revOf = (world: World): number => Math.max(...keyringOf(world).states.map(({ state_rev: rev }) => rev));

describe("changeImage", () => {
  it("gives a picture a passphrase: without it nothing opens any more, with it everything, and copies go on to open", async () => {
    const { world, laptop, ids, paper } = await settled();
    const told: string[] = [];
    const { openerId } = await changeImage(laptop, old, withPassphrase, {
      onProgress: ({ phase, done, total }) => told.push(`${phase} ${String(done)} of ${String(total)}`),
    });
    expect(told).toEqual(expect.arrayContaining(["sealing 0 of 2", "sealing 2 of 2", "sending 1 of 1"]));
    expect((await listOpeners(laptop)).openers.map(({ id, name, opens }) => [id, name, opens])).toEqual([
      [openerId, "The market", 2],
      [expect.any(String), "Paper", 2],
    ]);
    await isWhole(world, ids, shown("market/small", "nine stones"), "tablet");
    expect(plain(await recover(await world.open("library"), ids[1], paper, {}))).toBe("content of Second");
    for (const wrong of [old, shown("market", "nine stone")])
      await expect(unlock(await world.open("other"), wrong, {})).rejects.toEqual(
        code("not_this_picture_or_passphrase"),
      );
    expect(keyringOf(world).slots).toHaveLength(2);
    expect(await laptop.service.imageRecords()).toMatchObject([{ id: openerId }]);
  });

  it("takes another passphrase, and none again", async () => {
    const { world, laptop, ids } = await settled();
    await changeImage(laptop, old, withPassphrase, {});
    await changeImage(laptop, withPassphrase.shown, { shown: shown("market", "ten stones"), name: "The market" }, {});
    await isWhole(world, ids, shown("market", "ten stones"), "tablet");
    await changeImage(laptop, shown("market", "ten stones"), { shown: old, name: "The market" }, {});
    await isWhole(world, ids, old, "library");
    await expect(unlock(await world.open("other"), shown("market", "ten stones"), {})).rejects.toEqual(
      code("plain_helper_refused"),
    );
  });

  it("puts another picture in its place, and seals tickets, former versions and contents anew", async () => {
    const { world, laptop, ids } = await settled();
    const versions = (): { ticket: string; content: string }[] =>
      ids.flatMap((id) =>
        (world.service.account.rows.get(id)?.versions ?? []).map(({ ticket, content }) => ({ ticket, content })),
      );
    const before = versions();
    await changeImage(laptop, old, harbour, {});
    for (const [index, { ticket, content }] of versions().entries()) {
      expect(ticket).not.toBe(before[index]?.ticket);
      expect(content).not.toBe(before[index]?.content);
    }
    await isWhole(world, ids, harbour.shown, "tablet");
    await expect(unlock(await world.open("other"), old, {})).rejects.toEqual(code("not_this_picture"));
    expect(await protect(laptop, textSecret("Third", harbour.shown), {})).toMatchObject({
      secretId: expect.any(String),
    });
  });

  it("leaves the tickets of secrets that it does not open", async () => {
    const { world, laptop } = await settled();
    const { openerId } = await changeImage(laptop, old, harbour, {});
    const { secretId } = await protect(laptop, { ...textSecret("Third", shown("garden")) }, {});
    const ticket = (): string | undefined => world.service.account.rows.get(secretId)?.versions[0]?.ticket;
    const opens = (await listOpeners(laptop)).secrets.find((one) => one.secretId === secretId)?.openers;
    expect(opens).toContain(openerId); // a new picture seals to all that there are
    const before = ticket();
    await changeImage(laptop, shown("garden"), { shown: shown("lake"), name: "The lake" }, {});
    expect(ticket()).not.toBe(before);
    expect(plain(await recover(await world.open("tablet"), secretId, shown("lake"), {}))).toBe("content of Third");
  });

  it("begins on a locked device, by the picture as it is", async () => {
    const { world, ids } = await settled();
    await changeImage(await world.open("tablet"), old, withPassphrase, {});
    await isWhole(world, ids, withPassphrase.shown, "library");
  });

  it("ends shares of a content that is sealed anew, and keeps their keys", async () => {
    const { adasVault: vault, share } = await createSharingWorld();
    const { shareId } = await share({});
    await changeImage(vault, old, { shown: shown("garden"), name: "The garden" }, {});
    const opened = (await readAccount(vault))?.view.opened;
    expect(opened?.shares.shares.map(({ share_id: id, revoked_at: revokedAt }) => [id, revokedAt !== null])).toEqual([
      [shareId, true],
    ]);
  });

  it.each<[string, ShownPicture, { shown: ShownPicture; name: string }, string]>([
    ["what is no picture of the account", shown("garden"), harbour, "not_this_picture"],
    [
      "a picture that another way has",
      old,
      { shown: shown("garden"), name: "The garden" },
      "picture_resembles_another",
    ],
    ["a name that says nothing", old, { ...harbour, name: "" }, "validation_error"],
  ])("refuses %s, and changes nothing", async (_what, now, next, expected) => {
    const { world, laptop, ids } = await settled();
    if (expected === "picture_resembles_another") await protect(laptop, textSecret("Third", shown("garden")), {});
    const rev = revOf(world);
    await expect(changeImage(laptop, now, next, {})).rejects.toEqual(code(expected));
    expect(revOf(world)).toBe(rev);
    expect(plain(await recover(laptop, ids[0], old, {}))).toBe("second text");
  });

  it("done on two devices at the same time is done by one, and the other says so", async () => {
    const { world, laptop, ids } = await settled();
    const tablet = await world.open("tablet");
    const ends = await Promise.allSettled([
      changeImage(laptop, old, harbour, {}),
      changeImage(tablet, old, withPassphrase, {}),
    ]);
    expect(ends.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const end of ends)
      if (end.status === "rejected")
        expect([
          "openers_changed",
          "state_conflict",
          "publication_not_seen",
          "not_this_picture",
          "not_this_picture_or_passphrase",
        ]).toContain((end.reason as PortalError).code);
    await isWhole(world, ids, ends[0].status === "fulfilled" ? harbour.shown : withPassphrase.shown, "library");
  });
});

describe("a hostile service", () => {
  const changed = (world: World, before: number): boolean => revOf(world) > before;
  it.each<[string, string, (world: World, rev: number) => void]>([
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
      (world, rev) => {
        const { slots } = keyringOf(world);
        world.service.answer = (call, answer) =>
          call === "GET /user/keyring" && changed(world, rev) ? { ...(answer as Keyring), slots } : answer;
      },
    ],
    [
      "gives the slot of before beside the new one",
      "publication_not_seen",
      (world, rev) => {
        const { slots } = keyringOf(world);
        world.service.answer = (call, answer) =>
          call === "GET /user/keyring" && changed(world, rev)
            ? { ...(answer as Keyring), slots: [...(answer as Keyring).slots, ...slots] }
            : answer;
      },
    ],
    [
      "gives the book of before",
      "older_state",
      (world, rev) => {
        const { book } = keyringOf(world);
        world.service.answer = (call, answer) =>
          call === "GET /user/keyring" && changed(world, rev) ? { ...(answer as Keyring), book } : answer;
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
        world.service.answer = (call, answer) => {
          if (call.startsWith("GET /user/keyring/stage/")) alterStagedRow(world.service.account);
          return answer;
        };
      },
    ],
  ])("that %s is not believed", async (_, expected, corrupt) => {
    const { world, laptop, ids } = await settled();
    corrupt(world, revOf(world));
    await expect(changeImage(laptop, old, withPassphrase, {})).rejects.toEqual(code(expected));
    world.service.answer = (_call, answer) => answer;
    const isDone =
      keyringOf(world).slots.length === 2 &&
      (await unlock(await world.open("look"), old, {}).then(
        ({ opener }) => (opener.forget(), false),
        () => true,
      ));
    await isWhole(world, ids, isDone ? withPassphrase.shown : old, "tablet"); // before or after, nothing is lost
  });

  it("that loses a staged row once is given it again", async () => {
    const { world, laptop, ids } = await settled();
    let lost = 0;
    world.service.answer = (call, answer) => {
      if (call === "POST /user/keyring/stage" && lost++ === 0) alterStagedRow(world.service.account);
      return answer;
    };
    await changeImage(laptop, old, withPassphrase, {});
    expect(lost).toBeGreaterThan(1);
    await isWhole(world, ids, withPassphrase.shown, "tablet");
  });

  it("that keeps the answer to itself is asked what became of it", async () => {
    const { world, laptop, ids } = await settled();
    world.service.answer = (call, answer) => {
      if (call === "PUT /user/keyring") throw new PortalError("service_unavailable");
      return answer;
    };
    await changeImage(laptop, old, withPassphrase, {});
    await isWhole(world, ids, withPassphrase.shown, "tablet");
  });
});

describe("a change that is killed", () => {
  it("at any of its calls leaves one consistent account, and is done by going on", () => killChanges(2));
});
