import "fake-indexeddb/auto";

import { fromBase64url } from "@relicario/shared/api";
import { z } from "zod";

import { protect } from "../operations/protect.ts";
import { openSmallSecret } from "../operations/open-secret.ts";
import { setDeviceKind } from "../operations/set-device-kind.ts";
import { unlock } from "../openers/unlock.ts";
import { update } from "../operations/update.ts";
import { tryOpenTicket } from "../seal/ticket.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import { recogniseImage } from "../openers/recognise-image.ts";
import type { FakeAccount } from "../testing/fake-account.ts";
import { putUnchecked, stealMetadataKeys } from "../testing/metadata-keys-attacker.ts";
import { createWorld, makePicture, textSecret, type World } from "../testing/world.ts";

const BodyWithTicket = z.object({ ticket: z.string() });

/**
 * Signs two books with the metadata keys of a laptop, and stores them at a service that does not
 * check. `forged` has another account's recipient in place of the user's own; `clean` is unchanged.
 * `readLeakedTitles` opens later tickets with that other account's picture.
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

  if (recipient === undefined) throw new TypeError("expected an opener");
  const attacker = await stealMetadataKeys(world);
  const { book } = (await attacker.read()).openedKeyring;
  const publishBook = async (nextBook: typeof book): Promise<FakeAccount> => {
    const { account } = await attacker.read();
    putUnchecked(world.service.account, await attacker.sign([...account.rows.values()], { book: nextBook }));
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

describe("an attacker with metadata keys, and a service that times its responses", () => {
  it("get no ticket by serving another list of openers to the second of two reads", async () => {
    const { world, clean, readLeakedTitles } = await forgeBook();
    const victim = await world.open();
    let readCount = 0;
    world.service.beforeCall = (call) => {
      if (call === "GET /user/keyring" && ++readCount === 2) world.service.account = clean;
    };
    // rejected, or sealed only to the user's opener
    await protect(victim, textSecret("To whom?", makePicture("market")), {}).catch(() => undefined);
    expect((await readLeakedTitles()).filter((title) => title !== null)).toEqual([]);
  });

  it("get no ticket when an opener is presented for another operation between two pages of the list", async () => {
    const { world, secretId, forged, clean, readLeakedTitles } = await forgeBook();
    const victim = await world.open();
    let pageCount = 0;
    world.service.beforeCall = async (call) => {
      if (call !== "GET /secrets/store" || ++pageCount !== 2) return;
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

  it("get no new version that a reloaded device seals to a list of openers that it never verified", async () => {
    const { world, secretId } = await forgeBook();
    const victim = await world.open();
    const content = { contentKind: "text" as const, name: "a.txt", mime: "text/plain", content: new Blob(["new"]) };
    await expect(update(victim, secretId, { baseVersion: 1, content }, {})).rejects.toMatchObject({
      code: "show_opener_first",
    });
  });
});

describe("two operations at the same time", () => {
  it.each(["unlock", "recover"] as const)(
    "never leave a slot without an account key (%s while another picture is enrolled)",
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
          world.service.transformResponse = (call, response) => {
            if (operation === "unlock" || hasLied || call !== "GET /user/keyring") return response;
            hasLied = true;
            return Object.assign({}, response, { key_epoch: 2 });
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
