import "fake-indexeddb/auto";

import { fromBase64url } from "@relicario/shared/api";
import { z } from "zod";

import { protect } from "../operations/protect.ts";
import { openSmallSecret } from "../operations/open-secret.ts";
import { setDeviceKind } from "../operations/set-device-kind.ts";
import { unlock } from "../openers/unlock.ts";
import { update } from "../operations/update.ts";
import { tryOpenTicket } from "../seal/ticket.ts";
import { readAccount } from "../keyring/read-account.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import { recogniseImage } from "../openers/recognise-image.ts";
import { buildNextChange } from "../keyring/build-keyring-change.ts";
import type { FakeAccount } from "../testing/fake-account.ts";
import { createWorld, makePicture, textSecret, type World } from "../testing/world.ts";

const BodyWithTicket = z.object({ ticket: z.string() });

/**
 * An own laptop after a reload. A script there signed two books with its metadata keys: `forged`
 * has a stranger's recipient in the place of the person's, `clean` is as before. The stranger is
 * `strangerVault`.
 */
async function forgeBook(): Promise<{
  world: World;
  secretId: string;
  forged: FakeAccount;
  clean: FakeAccount;
  readLeakedTitles: () => Promise<(string | null)[]>;
}> {
  const world = createWorld();
  const originalLaptop = await world.open();
  const { secretId } = await protect(originalLaptop, textSecret("First", makePicture("market")), {});
  await setDeviceKind(originalLaptop, "own");
  const stranger = createWorld();
  const strangerVault = await stranger.open();
  await protect(strangerVault, textSecret("Bait", makePicture("forest")), {});
  const recipient = (await refreshKeyring(strangerVault))?.openedKeyring?.book.openers[0]?.recipient;

  const laptop = await world.open();
  const { slots: [slot] = [], imageRecords: [record] = [] } = world.service.account.keyring ?? {};
  const initialAccount = await readAccount(laptop);
  const book = initialAccount?.view.openedKeyring?.book;
  if (slot === undefined || record === undefined || recipient === undefined || book === undefined)
    throw new TypeError("an unlocked account");
  const publishBook = async (next: typeof book): Promise<FakeAccount> => {
    const account = await readAccount(laptop);
    if (account?.view.openedKeyring == null) throw new TypeError("unlocked");
    const { keyring } = await buildNextChange(laptop, account, account.view.openedKeyring, [...account.rows.values()], {
      enrolledImage: { book: next, slot, record },
    });
    await laptop.service.changeKeyring(keyring);
    return world.service.snapshot();
  };
  const forged = await publishBook({ ...book, openers: book.openers.map((opener) => ({ ...opener, recipient })) });
  const clean = await publishBook(book);
  world.service.account = forged;
  const bodyOffset = world.service.bodies.length;
  const readLeakedTitles = async (): Promise<(string | null)[]> => {
    const { opener } = await recogniseImage(strangerVault, makePicture("forest"), null, {});
    const tickets = world.service.bodies
      .slice(bodyOffset)
      .flatMap((body) => BodyWithTicket.safeParse(body).data?.ticket ?? []);
    return Promise.all(
      tickets.map(async (ticket) => (await tryOpenTicket(opener, fromBase64url(ticket)))?.title ?? null),
    );
  };
  return { world, secretId, forged, clean, readLeakedTitles };
}

describe("whoever has metadata keys, and a service that times its answers", () => {
  it("gets no ticket by one list of openers in the first reading and another in the second", async () => {
    const { world, clean, readLeakedTitles } = await forgeBook();
    const victim = await world.open();
    let readings = 0;
    world.service.beforeCall = (call) => {
      if (call === "GET /user/keyring" && ++readings === 2) world.service.account = clean;
    };
    // refused, or sealed to the person alone
    await protect(victim, textSecret("To whom?", makePicture("market")), {}).catch(() => undefined);
    expect((await readLeakedTitles()).filter((title) => title !== null)).toEqual([]);
  });

  it("gets none by an opener that is shown for something else while the list is on its way", async () => {
    const { world, secretId, forged, clean, readLeakedTitles } = await forgeBook();
    const victim = await world.open();
    let pages = 0;
    world.service.beforeCall = async (call) => {
      if (call !== "GET /secrets/store" || ++pages !== 2) return;
      world.service.account = clean;
      (await unlock(victim, makePicture("market"))).opener.wipe();
      world.service.account = forged;
    };
    const content = { contentKind: "text" as const, name: "a.txt", mime: "text/plain", content: new Blob(["new"]) };
    await expect(update(victim, secretId, { baseVersion: 1, content }, {})).rejects.toMatchObject({
      code: "openers_changed",
    });
    expect((await readLeakedTitles()).filter((title) => title !== null)).toEqual([]);
  });

  it("does not get a new version of a reloaded device sealed to a list that it never compared", async () => {
    const { world, secretId } = await forgeBook();
    const victim = await world.open();
    const content = { contentKind: "text" as const, name: "a.txt", mime: "text/plain", content: new Blob(["new"]) };
    await expect(update(victim, secretId, { baseVersion: 1, content }, {})).rejects.toMatchObject({
      code: "show_opener_first",
    });
  });
});

describe("whoever makes two acts meet", () => {
  it.each(["unlock", "recover"] as const)(
    "does not have a slot sealed to nothing, by an %s while another picture is enrolled",
    async (operation) => {
      const world = createWorld();
      const laptop = await world.open();
      const { secretId } = await protect(laptop, textSecret("First", makePicture("market")), {});
      const { enrol } = world.engine;
      let interrupted = false;
      Object.assign(world.engine, {
        enrol: async (...parameters: Parameters<typeof enrol>) => {
          const result = await enrol(...parameters);
          if (interrupted) return result;
          interrupted = true;
          let hasLied = false;
          world.service.transformAnswer = (call, answer) => {
            if (operation === "unlock" || hasLied || call !== "GET /user/keyring") return answer;
            hasLied = true;
            return Object.assign({}, answer, { key_epoch: 2 });
          };
          if (operation === "unlock") (await unlock(laptop, makePicture("market"))).opener.wipe();
          else await openSmallSecret(laptop, secretId, makePicture("market"));
          return result;
        },
      });
      await protect(laptop, textSecret("Second", makePicture("forest")), {});
      for (const picture of ["market", "forest"]) {
        const phone = await world.open(`phone with ${picture}`);
        (await unlock(phone, makePicture(picture))).opener.wipe();
        expect(phone.state.status).toBe("unlocked");
      }
    },
  );
});
