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
import { dayMs, minuteMs } from "./service/service-under-test.ts";
import type { ServicePerson } from "./service-world.ts";
import { errorWithCode, decodeContent, listTitles, withServiceWorld } from "./service-harness.ts";

const world = withServiceWorld();

const callReset = async (
  person: ServicePerson,
  device: string,
  method: "GET" | "POST" | "DELETE",
  query = {},
): Promise<AccountReset> =>
  (await person.httpOn(device)).http.request(method, "/user/start-anew", AccountReset, { query });
const forestPicture = { presentedPicture: makePicture("forest"), name: "The forest" };

/** Opens a user's own laptop with one secret, and a locked phone that is signed in. */
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

it("another device sees the requested reset and objects: nothing changes", async () => {
  const { person, laptop, phone, secretId } = await signInPhoneAndLaptop();
  expect(await callReset(person, "phone", "POST")).toMatchObject({ state: "waiting" });
  await expect(resetAccount(phone, forestPicture)).rejects.toEqual(errorWithCode("conflict")); // not yet
  expect(await callReset(person, "laptop", "GET")).toMatchObject({ state: "waiting" });
  expect(await callReset(person, "laptop", "DELETE", { reason: "objected" })).toMatchObject({ state: "objected" });
  expect(await callReset(person, "phone", "GET")).toMatchObject({ state: "objected" });
  world().setClockOffset(accountResetWaitDays * dayMs);
  await person.signInAgain("phone");
  await expect(resetAccount(phone, forestPicture)).rejects.toEqual(errorWithCode("conflict"));
  expect(await listTitles(laptop)).toEqual(["Before"]);
  expect(decodeContent(await openSmallSecret(laptop, secretId, makePicture("market"), {}))).toBe("content of Before");
});

it("without objection, the reset needs a new picture and a fresh sign-in; other devices unlock with that picture", async () => {
  const { person, laptop, phone, secretId } = await signInPhoneAndLaptop();
  await callReset(person, "phone", "POST");
  await callReset(person, "laptop", "DELETE", { reason: "objected" });
  await callReset(person, "phone", "POST");
  world().setClockOffset(accountResetWaitDays * dayMs);
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
  expect(decodeContent(await openSmallSecret(laptop, newSecretId, makePicture("forest"), {}))).toBe("content of After");
  await expect(openSmallSecret(laptop, secretId, makePicture("forest"), {})).rejects.toEqual(
    errorWithCode("not_found"),
  );
});

it("the reset is refused when the sign-in is some minutes old", async () => {
  const { person, phone } = await signInPhoneAndLaptop();
  await callReset(person, "phone", "POST");
  world().setClockOffset(accountResetWaitDays * dayMs);
  await person.signInAgain("phone");
  world().setClockOffset(accountResetWaitDays * dayMs + freshSignInMinutes * minuteMs);
  await expect(resetAccount(phone, forestPicture)).rejects.toEqual(errorWithCode("login_required"));
});
