import "fake-indexeddb/auto";

import { maxOpeners, toBase64url } from "@relicario/shared/api";

import { admitDevice } from "../device-links/admit-device.ts";
import { offerDevice } from "../device-links/join-device.ts";
import { copyOf } from "../seal/bytes.ts";
import type { PresentedKey } from "../rpc/presented-opener.ts";
import { createWorld, makePicture, textSecret } from "../testing/world.ts";
import { resealForAllOpeners } from "./reseal-for-all-openers.ts";
import { addOpener } from "./openers.ts";
import { protect } from "./protect.ts";

jest.setTimeout(120_000); // 31 additions are slow on a busy machine

const makePasskey = (fill: number): PresentedKey => ({ kind: "passkey", prf: copyOf(new Uint8Array(32).fill(fill)) });
const limitReached: unknown = expect.objectContaining({ code: "limit_reached" });

describe("a full book", () => {
  it("has 32 openers, which fit into one ticket, and stays unchanged when it refuses another opener or device", async () => {
    const world = createWorld();
    const phone = await world.open("phone");
    await protect(phone, textSecret("First", makePicture("market")), {});
    const offer = await offerDevice(await world.open("laptop"), { key: makePasskey(7), name: "New laptop" });
    for (let fill = 1; fill < maxOpeners; fill++)
      await addOpener(phone, { key: makePasskey(100 + fill), name: String(fill) }, null, {});
    const encodeSlots = (): string =>
      toBase64url(new TextEncoder().encode(JSON.stringify(world.service.account.keyring?.slots)));
    const slotsBefore = encodeSlots();
    await expect(addOpener(phone, { key: makePasskey(99), name: "one more" }, null, {})).rejects.toEqual(limitReached);
    await expect(admitDevice(phone, offer.words.join(" "), makePicture("market"))).rejects.toEqual(limitReached);
    expect(encodeSlots()).toBe(slotsBefore);
    expect((await resealForAllOpeners(phone, makePicture("market"), {})).resealedCount).toBe(1);
  });
});
