import "fake-indexeddb/auto";

import { maxOpeners, toB64u } from "@relicario/shared/api";

import { admitDevice } from "../device-links/admit.ts";
import { offerDevice } from "../device-links/join.ts";
import { copyOf } from "../seal/bytes.ts";
import type { ShownKey } from "../shown-image.ts";
import { createWorld, shown, textSecret } from "../testing/world.ts";
import { cover } from "./cover.ts";
import { addOpener } from "./openers.ts";
import { protect } from "./protect.ts";

jest.setTimeout(120_000); // 31 additions, on a machine that may be busy

const passkey = (fill: number): ShownKey => ({ kind: "passkey", prf: copyOf(new Uint8Array(32).fill(fill)) });
const refused: unknown = expect.objectContaining({ code: "limit_reached" });

describe("a full book", () => {
  it("has 32 openers, which all fit into one ticket, and takes no further one nor a device: nothing is changed", async () => {
    const world = createWorld();
    const phone = await world.open("phone");
    await protect(phone, textSecret("First", shown("market")), {});
    const offer = await offerDevice(await world.open("laptop"), { key: passkey(7), name: "New laptop" });
    for (let fill = 1; fill < maxOpeners; fill++)
      await addOpener(phone, { key: passkey(100 + fill), name: String(fill) }, null, {});
    const slots = (): string => toB64u(new TextEncoder().encode(JSON.stringify(world.service.account.keyring?.slots)));
    const before = slots();
    await expect(addOpener(phone, { key: passkey(99), name: "one more" }, null, {})).rejects.toEqual(refused);
    await expect(admitDevice(phone, offer.words.join(" "), shown("market"))).rejects.toEqual(refused);
    expect(slots()).toBe(before);
    expect((await cover(phone, shown("market"), {})).covered).toBe(1);
  });
});
