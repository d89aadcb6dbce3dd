import "fake-indexeddb/auto";

import { deviceLinkMinutes } from "@relicario/shared/api";

import { listOpeners } from "../acts/openers.ts";
import { protect } from "../acts/protect.ts";
import { recover } from "../acts/recover.ts";
import { answerDevice, unlock } from "../acts/unlock.ts";
import { admitDevice, askingDevice } from "../device-links/admit.ts";
import { joinDevice, offerDevice } from "../device-links/join.ts";
import { shown, textSecret } from "../testing/world.ts";
import type { VaultContext } from "../vault-context.ts";
import type { PersonOfService } from "./service-world.ts";
import { code, passkey, plain, titles, withServiceWorld } from "./story.ts";

const world = withServiceWorld();

/** A phone with two secrets behind a picture, and a laptop that is signed in. */
async function phoneAndLaptop(): Promise<{
  person: PersonOfService;
  phone: VaultContext;
  laptop: VaultContext;
  ids: readonly [string, string];
}> {
  const person = await world().signUp();
  const phone = await person.open("phone");
  const { secretId: first } = await protect(phone, textSecret("First", shown("market")), {});
  await answerDevice(phone, "own");
  const { secretId: second } = await protect(phone, textSecret("Second"), {});
  return { person, phone, laptop: await person.open("laptop"), ids: [first, second] };
}

it("a new device beside an old one gets the list back, and what is in every secret", async () => {
  const {
    person,
    phone,
    laptop,
    ids: [first, second],
  } = await phoneAndLaptop();
  expect(await titles(laptop)).toEqual([undefined, undefined]);
  const offer = await offerDevice(laptop, { key: passkey(), name: "New laptop" });
  expect(offer.words).toHaveLength(12);
  const words = offer.words.join(" ");
  expect(await askingDevice(phone, words)).toEqual({ name: "New laptop", secrets: 2 });
  await expect(askingDevice(await person.open("laptop"), words)).rejects.toEqual(code("vault_locked"));
  let looks = 0;
  (await person.on("laptop")).before = async (call) => {
    if (call.endsWith("/answer") && ++looks === 3)
      expect(await admitDevice(phone, words, shown("market"))).toEqual({ covered: 2, left: [], answered: true });
  };
  await joinDevice(laptop, offer, passkey()); // it waits for the answer
  expect(looks).toBe(3);
  await expect(askingDevice(laptop, words)).rejects.toEqual(code("device_link_own"));
  await answerDevice(laptop, "own");
  expect(await titles(laptop)).toEqual(["First", "Second"]);
  for (const [id, title] of [
    [first, "First"],
    [second, "Second"],
  ] as const)
    expect(plain(await recover(laptop, id, passkey(), {}))).toBe(`content of ${title}`);
  expect((await listOpeners(phone)).openers).toMatchObject([
    { kind: "image" },
    { kind: "passkey", name: "New laptop", opens: 2 },
  ]);
  for (const device of ["phone", "laptop"])
    expect(JSON.stringify((await person.on(device)).bodies)).not.toContain("New laptop");
});

it("is nothing any more after some minutes; another code takes the same passkey", async () => {
  const { phone, laptop } = await phoneAndLaptop();
  const offer = await offerDevice(laptop, { key: passkey(), name: "New laptop" });
  world().goAhead(deviceLinkMinutes * 60_000);
  await expect(askingDevice(phone, offer.words.join(" "))).rejects.toEqual(code("device_link_unavailable"));
  await expect(joinDevice(laptop, offer, passkey())).rejects.toEqual(code("device_link_expired"));
  const again = await offerDevice(laptop, { key: passkey(), name: "New laptop" });
  await admitDevice(phone, again.words.join(" "), shown("market"));
  await joinDevice(laptop, again, passkey());
  expect(await titles(laptop)).toEqual(["First", "Second"]);
});

it("without PRF nothing is offered, and a copy of the picture opens", async () => {
  const { phone, laptop } = await phoneAndLaptop();
  await expect(offerDevice(laptop, { key: passkey(7, 16), name: "Old laptop" })).rejects.toEqual(
    code("passkey_without_prf"),
  );
  (await unlock(laptop, shown("market/small"), {})).opener.forget();
  await answerDevice(laptop, "own");
  expect(await titles(laptop)).toEqual(["First", "Second"]);
  expect((await listOpeners(phone)).openers).toHaveLength(1);
});
