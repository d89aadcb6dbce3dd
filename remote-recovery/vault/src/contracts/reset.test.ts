import "fake-indexeddb/auto";

import { freshSignInMinutes, startAnewDays, StartAnew } from "@relicario/shared/api";

import { protect } from "../acts/protect.ts";
import { recover } from "../acts/recover.ts";
import { beginAnew } from "../acts/start-anew.ts";
import { answerDevice, unlock } from "../acts/unlock.ts";
import { readKeyring } from "../steps/read-keyring.ts";
import { shown, textSecret } from "../testing/world.ts";
import type { VaultContext } from "../vault-context.ts";
import { day, minute } from "./service/under-test.ts";
import type { PersonOfService } from "./service-world.ts";
import { code, plain, titles, withServiceWorld } from "./story.ts";

const world = withServiceWorld();

const call = async (
  person: PersonOfService,
  device: string,
  method: "GET" | "POST" | "DELETE",
  query = {},
): Promise<StartAnew> => (await person.on(device)).http.request(method, "/user/start-anew", StartAnew, { query });
const forest = { shown: shown("forest"), name: "The forest" };

/** A person's own laptop with one secret, and a phone that is signed in and opens nothing. */
async function settled(): Promise<{
  person: PersonOfService;
  laptop: VaultContext;
  phone: VaultContext;
  secretId: string;
}> {
  const person = await world().signUp();
  const laptop = await person.open("laptop");
  const { secretId } = await protect(laptop, textSecret("Before", shown("market")), {});
  await answerDevice(laptop, "own");
  return { person, laptop, phone: await person.open("phone"), secretId };
}

it("another device sees that the account is to be reset and objects: nothing has changed", async () => {
  const { person, laptop, phone, secretId } = await settled();
  expect(await call(person, "phone", "POST")).toMatchObject({ state: "waiting" });
  await expect(beginAnew(phone, forest)).rejects.toEqual(code("conflict")); // not yet
  expect(await call(person, "laptop", "GET")).toMatchObject({ state: "waiting" });
  expect(await call(person, "laptop", "DELETE", { reason: "objected" })).toMatchObject({ state: "objected" });
  expect(await call(person, "phone", "GET")).toMatchObject({ state: "objected" });
  world().goAhead(startAnewDays * day);
  await person.signInAgain("phone");
  await expect(beginAnew(phone, forest)).rejects.toEqual(code("conflict"));
  expect(await titles(laptop)).toEqual(["Before"]);
  expect(plain(await recover(laptop, secretId, shown("market"), {}))).toBe("content of Before");
});

it("asked again and not objected to, it begins with a new picture and a fresh sign-in; every device takes it by that picture", async () => {
  const { person, laptop, phone, secretId } = await settled();
  await call(person, "phone", "POST");
  await call(person, "laptop", "DELETE", { reason: "objected" });
  await call(person, "phone", "POST");
  world().goAhead(startAnewDays * day);
  expect(await call(person, "phone", "GET")).toMatchObject({ state: "ready" });
  await expect(beginAnew(phone, forest)).rejects.toEqual(code("login_required"));
  await person.signInAgain("phone");
  await beginAnew(phone, forest);
  expect(await call(person, "laptop", "GET")).toMatchObject({
    state: "begun",
    kept_until: expect.any(String) as string,
  });
  await answerDevice(phone, "own");
  expect(await titles(phone)).toEqual([]);
  const { secretId: after } = await protect(phone, textSecret("After"), {});
  expect(await titles(phone)).toEqual(["After"]);

  await readKeyring(laptop);
  expect(laptop.getState().status).toBe("locked");
  expect(await titles(laptop)).toEqual([undefined]);
  await expect(unlock(laptop, shown("market"), {})).rejects.toEqual(code("not_this_picture"));
  (await unlock(laptop, shown("forest"), {})).opener.forget();
  expect(await titles(laptop)).toEqual(["After"]);
  expect(plain(await recover(laptop, after, shown("forest"), {}))).toBe("content of After");
  await expect(recover(laptop, secretId, shown("forest"), {})).rejects.toEqual(code("not_found"));
});

it("is not begun by a sign-in that is some minutes old", async () => {
  const { person, phone } = await settled();
  await call(person, "phone", "POST");
  world().goAhead(startAnewDays * day);
  await person.signInAgain("phone");
  world().goAhead(startAnewDays * day + freshSignInMinutes * minute);
  await expect(beginAnew(phone, forest)).rejects.toEqual(code("login_required"));
});
