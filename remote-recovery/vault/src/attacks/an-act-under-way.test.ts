import "fake-indexeddb/auto";

import { fromB64u } from "@relicario/shared/api";
import { z } from "zod";

import { protect } from "../acts/protect.ts";
import { recover } from "../acts/recover.ts";
import { answerDevice, unlock } from "../acts/unlock.ts";
import { update } from "../acts/update.ts";
import { ticketFor } from "../seal/ticket.ts";
import { readAccount } from "../steps/read-account.ts";
import { readKeyring } from "../steps/read-keyring.ts";
import { recogniseImage } from "../steps/recognise-image.ts";
import { nextChange } from "../steps/signed-change.ts";
import type { FakeAccount } from "../testing/fake-account.ts";
import { createWorld, shown, textSecret, type World } from "../testing/world.ts";

const withTicket = z.object({ ticket: z.string() });

/**
 * An own laptop after a reload. A script there signed two books with its titles keys: `forged` has
 * a stranger's recipient in the place of the person's, `clean` is as before. The stranger is
 * `theirs`.
 */
async function forgedBook(): Promise<{
  world: World;
  secretId: string;
  forged: FakeAccount;
  clean: FakeAccount;
  opened: () => Promise<(string | null)[]>;
}> {
  const world = createWorld();
  const before = await world.open();
  const { secretId } = await protect(before, textSecret("First", shown("market")), {});
  await answerDevice(before, "own");
  const stranger = createWorld();
  const theirs = await stranger.open();
  await protect(theirs, textSecret("Bait", shown("forest")), {});
  const recipient = (await readKeyring(theirs))?.opened?.book.openers[0]?.recipient;

  const laptop = await world.open();
  const { slots: [slot] = [], imageRecords: [record] = [] } = world.service.account.keyring ?? {};
  const first = await readAccount(laptop);
  const book = first?.view.opened?.book;
  if (slot === undefined || record === undefined || recipient === undefined || book === undefined)
    throw new TypeError("an unlocked account");
  const sign = async (next: typeof book): Promise<FakeAccount> => {
    const account = await readAccount(laptop);
    if (account?.view.opened == null) throw new TypeError("unlocked");
    const { keyring } = await nextChange(laptop, account, account.view.opened, [...account.rows.values()], {
      enrolled: { book: next, slot, record },
    });
    await laptop.service.changeKeyring(keyring);
    return world.service.snapshot();
  };
  const forged = await sign({ ...book, openers: book.openers.map((one) => ({ ...one, recipient })) });
  const clean = await sign(book);
  world.service.account = forged;
  const from = world.service.bodies.length;
  const opened = async (): Promise<(string | null)[]> => {
    const { opener } = await recogniseImage(theirs, shown("forest"), null, {});
    const tickets = world.service.bodies.slice(from).flatMap((body) => withTicket.safeParse(body).data?.ticket ?? []);
    return Promise.all(tickets.map(async (ticket) => (await ticketFor(opener, fromB64u(ticket)))?.title ?? null));
  };
  return { world, secretId, forged, clean, opened };
}

describe("whoever has titles keys, and a service that times its answers", () => {
  it("gets no ticket by one list of openers in the first reading and another in the second", async () => {
    const { world, clean, opened } = await forgedBook();
    const victim = await world.open();
    let readings = 0;
    world.service.before = (call) => {
      if (call === "GET /user/keyring" && ++readings === 2) world.service.account = clean;
    };
    // refused, or sealed to the person alone
    await protect(victim, textSecret("To whom?", shown("market")), {}).catch(() => undefined);
    expect((await opened()).filter((title) => title !== null)).toEqual([]);
  });

  it("gets none by an opener that is shown for something else while the list is on its way", async () => {
    const { world, secretId, forged, clean, opened } = await forgedBook();
    const victim = await world.open();
    let pages = 0;
    world.service.before = async (call) => {
      if (call !== "GET /secrets/store" || ++pages !== 2) return;
      world.service.account = clean;
      (await unlock(victim, shown("market"))).opener.forget();
      world.service.account = forged;
    };
    const content = { contentKind: "text" as const, name: "a.txt", mime: "text/plain", content: new Blob(["new"]) };
    await expect(update(victim, secretId, { baseVersion: 1, content }, {})).rejects.toMatchObject({
      code: "openers_changed",
    });
    expect((await opened()).filter((title) => title !== null)).toEqual([]);
  });

  it("does not get a new version of a reloaded device sealed to a list that it never compared", async () => {
    const { world, secretId } = await forgedBook();
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
    async (act) => {
      const world = createWorld();
      const laptop = await world.open();
      const { secretId } = await protect(laptop, textSecret("First", shown("market")), {});
      const { enrol } = world.engine;
      let met = false;
      Object.assign(world.engine, {
        enrol: async (...given: Parameters<typeof enrol>) => {
          const result = await enrol(...given);
          if (met) return result;
          met = true;
          let lied = false;
          world.service.answer = (call, answer) => {
            if (act === "unlock" || lied || call !== "GET /user/keyring") return answer;
            lied = true;
            return Object.assign({}, answer, { key_epoch: 2 });
          };
          if (act === "unlock") (await unlock(laptop, shown("market"))).opener.forget();
          else await recover(laptop, secretId, shown("market"));
          return result;
        },
      });
      await protect(laptop, textSecret("Second", shown("forest")), {});
      for (const picture of ["market", "forest"]) {
        const phone = await world.open(`phone with ${picture}`);
        (await unlock(phone, shown(picture))).opener.forget();
        expect(phone.getState().status).toBe("unlocked");
      }
    },
  );
});
