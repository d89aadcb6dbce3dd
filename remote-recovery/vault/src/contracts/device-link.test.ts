import "fake-indexeddb/auto";

import { deviceLinkLifetimeMinutes } from "@relicario/shared/api";

import { listOpeners } from "../operations/openers.ts";
import { protect } from "../operations/protect.ts";
import { openSmallSecret } from "../operations/open-secret.ts";
import { setDeviceKind } from "../operations/set-device-kind.ts";
import { unlock } from "../openers/unlock.ts";
import { admitDevice, inspectRequestingDevice } from "../device-links/admit-device.ts";
import { joinDevice, offerDevice } from "../device-links/join-device.ts";
import { makePicture, textSecret } from "../testing/world.ts";
import type { VaultSession } from "../session/vault-session.ts";
import type { ServicePerson } from "./service-world.ts";
import { errorWithCode, makePasskey, decodeContent, listTitles, withServiceWorld } from "./service-harness.ts";

const world = withServiceWorld();

/** Opens a phone with two secrets protected by a picture, and a laptop that is signed in. */
async function openPhoneAndLaptop(): Promise<{
  person: ServicePerson;
  phone: VaultSession;
  laptop: VaultSession;
  ids: readonly [string, string];
}> {
  const person = await world().signUp();
  const phone = await person.open("phone");
  const { secretId: firstId } = await protect(phone, textSecret("First", makePicture("market")), {});
  await setDeviceKind(phone, "own");
  const { secretId: secondId } = await protect(phone, textSecret("Second"), {});
  return { person, phone, laptop: await person.open("laptop"), ids: [firstId, secondId] };
}

it("a new device joins by the words of its code: the list and every secret open there", async () => {
  const {
    person,
    phone,
    laptop,
    ids: [firstId, secondId],
  } = await openPhoneAndLaptop();
  expect(await listTitles(laptop)).toEqual([undefined, undefined]);
  const offer = await offerDevice(laptop, { key: makePasskey(), name: "New laptop" });
  expect(offer.words).toHaveLength(12);
  const words = offer.words.join(" ");
  expect(await inspectRequestingDevice(phone, words)).toEqual({ name: "New laptop", secretCount: 2 });
  await expect(inspectRequestingDevice(await person.open("laptop"), words)).rejects.toEqual(
    errorWithCode("vault_locked"),
  );
  let pollCount = 0;
  (await person.httpOn("laptop")).beforeCall = async (call) => {
    if (call.endsWith("/answer") && ++pollCount === 3)
      expect(await admitDevice(phone, words, makePicture("market"))).toEqual({
        resealedCount: 2,
        skippedIds: [],
        notified: true,
      });
  };
  await joinDevice(laptop, offer, makePasskey()); // polls until the phone answers
  expect(pollCount).toBe(3);
  await expect(inspectRequestingDevice(laptop, words)).rejects.toEqual(errorWithCode("device_link_own"));
  await setDeviceKind(laptop, "own");
  expect(await listTitles(laptop)).toEqual(["First", "Second"]);
  for (const [id, title] of [
    [firstId, "First"],
    [secondId, "Second"],
  ] as const)
    expect(decodeContent(await openSmallSecret(laptop, id, makePasskey(), {}))).toBe(`content of ${title}`);
  expect((await listOpeners(phone)).openers).toMatchObject([
    { kind: "image" },
    { kind: "passkey", name: "New laptop", secretCount: 2 },
  ]);
  for (const device of ["phone", "laptop"])
    expect(JSON.stringify((await person.httpOn(device)).bodies)).not.toContain("New laptop");
});

it("a device link expires after some minutes; a new link takes the same passkey", async () => {
  const { phone, laptop } = await openPhoneAndLaptop();
  const offer = await offerDevice(laptop, { key: makePasskey(), name: "New laptop" });
  world().setClockOffset(deviceLinkLifetimeMinutes * 60_000);
  await expect(inspectRequestingDevice(phone, offer.words.join(" "))).rejects.toEqual(
    errorWithCode("device_link_unavailable"),
  );
  await expect(joinDevice(laptop, offer, makePasskey())).rejects.toEqual(errorWithCode("device_link_expired"));
  const secondOffer = await offerDevice(laptop, { key: makePasskey(), name: "New laptop" });
  await admitDevice(phone, secondOffer.words.join(" "), makePicture("market"));
  await joinDevice(laptop, secondOffer, makePasskey());
  expect(await listTitles(laptop)).toEqual(["First", "Second"]);
});

it("a passkey without PRF is refused, and a copy of the picture unlocks instead", async () => {
  const { phone, laptop } = await openPhoneAndLaptop();
  await expect(offerDevice(laptop, { key: makePasskey(7, 16), name: "Old laptop" })).rejects.toEqual(
    errorWithCode("passkey_without_prf"),
  );
  (await unlock(laptop, makePicture("market/small"), {})).opener.wipe();
  await setDeviceKind(laptop, "own");
  expect(await listTitles(laptop)).toEqual(["First", "Second"]);
  expect((await listOpeners(phone)).openers).toHaveLength(1);
});
