import "fake-indexeddb/auto";

import { unlock } from "../openers/unlock.ts";
import { createWorld, makePicture, textSecret, type World } from "../testing/world.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { readHistory } from "./history.ts";
import { protect } from "./protect.ts";

async function createLaptop(): Promise<{ world: World; laptop: VaultSession }> {
  const world = createWorld();
  const laptop = await world.open("laptop");
  await protect(laptop, textSecret("1", makePicture("market")), {});
  for (const title of ["2", "3"]) await protect(laptop, textSecret(title), {});
  return { world, laptop };
}

async function openPhone(world: World): Promise<VaultSession> {
  const phone = await world.open("phone");
  (await unlock(phone, makePicture("market"))).opener.wipe();
  return phone;
}

describe("readHistory", () => {
  it("gives two devices of one history the same words, at the lower of their numbers", async () => {
    const { world, laptop } = await createLaptop();
    const phoneWords = await readHistory(await openPhone(world), null);
    expect(phoneWords).toMatchObject({ stateRev: 3 });
    expect(phoneWords.words).toHaveLength(8);
    await protect(laptop, textSecret("4"), {});
    expect((await readHistory(laptop, null)).words).not.toEqual(phoneWords.words);
    expect(await readHistory(laptop, 3)).toEqual(phoneWords);
    const allWords = await Promise.all(
      [1, 2, 3, 4].map(async (rev) => (await readHistory(laptop, rev)).words.join(" ")),
    );
    expect(new Set(allWords).size).toBe(4);
  });

  it("gives other words after a fork", async () => {
    const { world, laptop } = await createLaptop();
    const phone = await openPhone(world);
    const common = world.service.snapshot();
    await protect(laptop, textSecret("Of the laptop"), {});
    const laptopWords = await readHistory(laptop, null);
    world.service.account = common;
    await protect(phone, textSecret("Of the phone"), {});
    const phoneWords = await readHistory(phone, null);
    expect(phoneWords.stateRev).toBe(laptopWords.stateRev);
    expect(phoneWords.words).not.toEqual(laptopWords.words);
  });

  it("says that it does not reach a later number, or one before a gap", async () => {
    const { world, laptop } = await createLaptop();
    await expect(readHistory(laptop, 4)).rejects.toMatchObject({ code: "not_found" });
    const { states = [] } = world.service.account.keyring ?? {};
    states.splice(1, 1);
    await expect(readHistory(laptop, 1)).rejects.toMatchObject({ code: "not_found" });
  });
});
