import "fake-indexeddb/auto";

import { freshSignInMinutes, accountResetWaitDays, AccountReset } from "@relicario/shared/api";

import { protect } from "../operations/protect.ts";
import { openSmallSecret } from "../operations/open-secret.ts";
import { resetAccount } from "../operations/reset-account.ts";
import { setDeviceKind } from "../operations/set-device-kind.ts";
import { unlock } from "../openers/unlock.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import { makePicture, textSecret } from "../testing/world.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { day, minute } from "./service/service-under-test.ts";
import type { ServicePerson } from "./service-world.ts";
import { errorWithCode, plainTextOf, listTitles, withServiceWorld } from "./service-harness.ts";

const world = withServiceWorld();

const callReset = async (
  person: ServicePerson,
  device: string,
  method: "GET" | "POST" | "DELETE",
  query = {},
): Promise<AccountReset> =>
  (await person.httpOn(device)).http.request(method, "/user/start-anew", AccountReset, { query });
const forestPicture = { presentedPicture: makePicture("forest"), name: "The forest" };

/** A person's own laptop with one secret, and a phone that is signed in and opens nothing. */
async function signInPhoneAndLaptop(): Promise<{
  person: ServicePerson;
  laptop: VaultSession;
  phone: VaultSession;
  secretId: string;
}> {
  const person = await world().signUp();
  const laptop = await person.open("laptop");
  const { secretId } = await protect(laptop, textSecret("Before", makePicture("market")), {});
  await setDeviceKind(laptop, "own");
  return { person, laptop, phone: await person.open("phone"), secretId };
}

it("another device sees that the account is to be reset and objects: nothing has changed", async () => {
  const { person, laptop, phone, secretId } = await signInPhoneAndLaptop();
  expect(await callReset(person, "phone", "POST")).toMatchObject({ state: "waiting" });
  await expect(resetAccount(phone, forestPicture)).rejects.toEqual(errorWithCode("conflict")); // not yet
  expect(await callReset(person, "laptop", "GET")).toMatchObject({ state: "waiting" });
  expect(await callReset(person, "laptop", "DELETE", { reason: "objected" })).toMatchObject({ state: "objected" });
  expect(await callReset(person, "phone", "GET")).toMatchObject({ state: "objected" });
  world().setClockOffset(accountResetWaitDays * day);
  await person.signInAgain("phone");
  await expect(resetAccount(phone, forestPicture)).rejects.toEqual(errorWithCode("conflict"));
  expect(await listTitles(laptop)).toEqual(["Before"]);
  expect(plainTextOf(await openSmallSecret(laptop, secretId, makePicture("market"), {}))).toBe("content of Before");
});

it("asked again and not objected to, it begins with a new picture and a fresh sign-in; every device takes it by that picture", async () => {
  const { person, laptop, phone, secretId } = await signInPhoneAndLaptop();
  await callReset(person, "phone", "POST");
  await callReset(person, "laptop", "DELETE", { reason: "objected" });
  await callReset(person, "phone", "POST");
  world().setClockOffset(accountResetWaitDays * day);
  expect(await callReset(person, "phone", "GET")).toMatchObject({ state: "ready" });
  await expect(resetAccount(phone, forestPicture)).rejects.toEqual(errorWithCode("login_required"));
  await person.signInAgain("phone");
  await resetAccount(phone, forestPicture);
  expect(await callReset(person, "laptop", "GET")).toMatchObject({
    state: "begun",
    kept_until: expect.any(String) as string,
  });
  await setDeviceKind(phone, "own");
  expect(await listTitles(phone)).toEqual([]);
  const { secretId: newSecretId } = await protect(phone, textSecret("After"), {});
  expect(await listTitles(phone)).toEqual(["After"]);

  await refreshKeyring(laptop);
  expect(laptop.state.status).toBe("locked");
  expect(await listTitles(laptop)).toEqual([undefined]);
  await expect(unlock(laptop, makePicture("market"), {})).rejects.toEqual(errorWithCode("not_this_picture"));
  (await unlock(laptop, makePicture("forest"), {})).opener.wipe();
  expect(await listTitles(laptop)).toEqual(["After"]);
  expect(plainTextOf(await openSmallSecret(laptop, newSecretId, makePicture("forest"), {}))).toBe("content of After");
  await expect(openSmallSecret(laptop, secretId, makePicture("forest"), {})).rejects.toEqual(
    errorWithCode("not_found"),
  );
});

it("is not begun by a sign-in that is some minutes old", async () => {
  const { person, phone } = await signInPhoneAndLaptop();
  await callReset(person, "phone", "POST");
  world().setClockOffset(accountResetWaitDays * day);
  await person.signInAgain("phone");
  world().setClockOffset(accountResetWaitDays * day + freshSignInMinutes * minute);
  await expect(resetAccount(phone, forestPicture)).rejects.toEqual(errorWithCode("login_required"));
});
