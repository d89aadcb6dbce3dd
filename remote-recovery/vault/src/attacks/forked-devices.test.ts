import "fake-indexeddb/auto";

import { list } from "../operations/list.ts";
import { protect } from "../operations/protect.ts";
import { unlock } from "../openers/unlock.ts";
import { createWorld, makePicture, textSecret } from "../testing/world.ts";
import type { VaultSession } from "../session/vault-session.ts";

const listTitles = async (vault: VaultSession): Promise<readonly (string | undefined)[]> =>
  (await list(vault)).map(({ label }) => label?.title).toSorted();

/** How far a service gets with two devices that nobody compares: see the threat model. */
describe("a service that forks an account between two devices", () => {
  it("is believed by each, until one is given the other's history", async () => {
    const world = createWorld();
    const laptop = await world.open("laptop");
    await protect(laptop, textSecret("Common", makePicture("market")), {});
    const phone = await world.open("phone");
    (await unlock(phone, makePicture("market"))).opener.wipe();
    const common = world.service.snapshot();

    await protect(laptop, textSecret("Of the laptop"), {});
    const laptopHistory = world.service.snapshot();
    world.service.account = common;
    await protect(phone, textSecret("Of the phone"), {});
    const phoneHistory = world.service.snapshot();
    expect(await listTitles(phone)).toEqual(["Common", "Of the phone"]);
    world.service.account = laptopHistory;
    expect(await listTitles(laptop)).toEqual(["Common", "Of the laptop"]);

    world.service.account = phoneHistory;
    await expect(list(laptop)).rejects.toMatchObject({ code: "older_state" });
  });

  it("freezes one of them: it goes on seeing what it saw", async () => {
    const world = createWorld();
    const laptop = await world.open("laptop");
    await protect(laptop, textSecret("Common", makePicture("market")), {});
    const frozen = world.service.snapshot();
    const phone = await world.open("phone");
    (await unlock(phone, makePicture("market"))).opener.wipe();
    await protect(laptop, textSecret("Later"), {});
    world.service.account = frozen;
    expect(await listTitles(phone)).toEqual(["Common"]);
  });
});
