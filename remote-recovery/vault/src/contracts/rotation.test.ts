import "fake-indexeddb/auto";

import { PortalError } from "@relicario/shared/errors";

import { cover } from "../acts/cover.ts";
import { addOpener, listOpeners } from "../acts/openers.ts";
import { protect } from "../acts/protect.ts";
import { recover } from "../acts/recover.ts";
import { recognise, rotate } from "../acts/rotate.ts";
import { answerDevice, unlock } from "../acts/unlock.ts";
import { readAccount } from "../steps/read-account.ts";
import { shown, textSecret } from "../testing/world.ts";
import type { VaultContext } from "../vault-context.ts";
import type { PersonOfService } from "./service-world.ts";
import { code, passkey, plain, titles, withServiceWorld } from "./story.ts";

const world = withServiceWorld();

/** A person's own device with so many secrets behind a picture. */
async function protectedBy(
  ...names: readonly string[]
): Promise<{ person: PersonOfService; laptop: VaultContext; ids: string[] }> {
  const person = await world().signUp();
  const laptop = await person.open();
  const ids: string[] = [];
  for (const [at, name] of names.entries()) {
    ids.push((await protect(laptop, textSecret(name, at === 0 ? shown("market") : undefined), {})).secretId);
    if (at === 0) await answerDevice(laptop, "own");
  }
  return { person, laptop, ids };
}

it("a lost device shows no titles any more, and everything opens by what was shown", async () => {
  const {
    person,
    laptop,
    ids: [first = ""],
  } = await protectedBy("First");
  const { openerId } = await addOpener(laptop, { key: passkey(), name: "Phone" }, shown("market"), {});
  await cover(laptop, shown("market"), {});
  const { secretId: second } = await protect(laptop, textSecret("Second"), {});
  const lost = await person.open("lost phone");
  (await unlock(lost, shown("market"), {})).opener.forget();
  await answerDevice(lost, "own");
  expect(await titles(lost)).toEqual(["First", "Second"]);

  expect(await recognise(laptop, shown("market"), {})).not.toEqual({ openerId });
  const { removed } = await rotate(laptop, [shown("market")], {});
  expect(removed).toEqual([openerId]);
  expect((await listOpeners(laptop)).openers).toMatchObject([{ kind: "image" }]);
  expect(await titles(laptop)).toEqual(["First", "Second"]);
  for (const [id, title] of [
    [first, "First"],
    [second, "Second"],
  ] as const)
    expect(plain(await recover(laptop, id, shown("market"), {}))).toBe(`content of ${title}`);

  for (const page of [lost, await person.open("lost phone")]) {
    expect(await readAccount(page)).toMatchObject({ view: { opened: null } });
    expect(page.getState()).toEqual({ status: "locked" });
    expect(await titles(page)).toEqual([undefined, undefined]);
  }
  await expect(unlock(await person.open("other"), passkey(), {})).rejects.toEqual(code("not_this_passkey"));
});

it("killed at any of its writes, before the service has it or after, it ends in one account by going on", async () => {
  const names = ["First", "Second"];
  const { person, ids } = await protectedBy(...names);
  const measured = await person.on("measure");
  const measure = await person.open("measure");
  (await unlock(measure, shown("market"), {})).opener.forget();
  measured.calls.length = 0;
  await rotate(measure, [shown("market")], {});
  const writes = [...new Set(measured.calls)].filter((call) => !call.startsWith("GET "));
  expect(writes).toEqual(expect.arrayContaining(["POST /user/keyring/stage", "PUT /user/keyring"]));

  for (const write of writes)
    for (const moment of ["before", "after"] as const) {
      const device = `device at ${write}, ${moment}`;
      const calls = await person.on(device);
      const page = await person.open(device);
      (await unlock(page, shown("market"), {})).opener.forget();
      await answerDevice(page, "own");
      let isKilled = false;
      calls[moment] = (call) => {
        isKilled ||= call === write;
        if (isKilled) throw new PortalError("service_unavailable"); // and never comes back for this page
      };
      await expect(rotate(page, [shown("market")], {})).rejects.toEqual(code("service_unavailable"));
      Object.assign(calls, { before: () => undefined, after: () => undefined });

      const next = await person.open(device);
      await readAccount(next);
      // the switch took place
      if (next.getState().status !== "unlocked") (await unlock(next, shown("market"), {})).opener.forget();
      expect(await titles(next)).toEqual(names);
      expect(await rotate(next, [shown("market")], {})).toMatchObject({ removed: [] });
      for (const [at, id] of ids.entries())
        expect(plain(await recover(next, id, shown("market"), {}))).toBe(`content of ${names[at] ?? ""}`);
      expect((await next.service.keyring(null))?.slots).toHaveLength(1);
    }
});
