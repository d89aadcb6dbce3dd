import "fake-indexeddb/auto";

import { PortalError } from "@relicario/shared/errors";

import { resealForAllOpeners } from "../operations/reseal-for-all-openers.ts";
import { addOpener, listOpeners } from "../operations/openers.ts";
import { protect } from "../operations/protect.ts";
import { openSmallSecret } from "../operations/open-secret.ts";
import { recognise, rotate } from "../operations/rotate.ts";
import { setDeviceKind } from "../operations/set-device-kind.ts";
import { unlock } from "../openers/unlock.ts";
import { readAccount } from "../keyring/read-account.ts";
import { makePicture, textSecret } from "../testing/world.ts";
import type { VaultSession } from "../session/vault-session.ts";
import type { ServicePerson } from "./service-world.ts";
import { errorWithCode, makePasskey, plainTextOf, listTitles, withServiceWorld } from "./service-harness.ts";

const world = withServiceWorld();

/** A person's own device with so many secrets behind a picture. */
async function createSecrets(
  ...names: readonly string[]
): Promise<{ person: ServicePerson; laptop: VaultSession; ids: string[] }> {
  const person = await world().signUp();
  const laptop = await person.open();
  const ids: string[] = [];
  for (const [index, name] of names.entries()) {
    ids.push((await protect(laptop, textSecret(name, index === 0 ? makePicture("market") : undefined), {})).secretId);
    if (index === 0) await setDeviceKind(laptop, "own");
  }
  return { person, laptop, ids };
}

it("a lost device shows no titles any more, and everything opens by what was shown", async () => {
  const {
    person,
    laptop,
    ids: [first = ""],
  } = await createSecrets("First");
  const { openerId } = await addOpener(laptop, { key: makePasskey(), name: "Phone" }, makePicture("market"), {});
  await resealForAllOpeners(laptop, makePicture("market"), {});
  const { secretId: second } = await protect(laptop, textSecret("Second"), {});
  const lostPhone = await person.open("lost phone");
  (await unlock(lostPhone, makePicture("market"), {})).opener.wipe();
  await setDeviceKind(lostPhone, "own");
  expect(await listTitles(lostPhone)).toEqual(["First", "Second"]);

  expect(await recognise(laptop, makePicture("market"), {})).not.toEqual({ openerId });
  const { removedOpenerIds } = await rotate(laptop, [makePicture("market")], {});
  expect(removedOpenerIds).toEqual([openerId]);
  expect((await listOpeners(laptop)).openers).toMatchObject([{ kind: "image" }]);
  expect(await listTitles(laptop)).toEqual(["First", "Second"]);
  for (const [id, title] of [
    [first, "First"],
    [second, "Second"],
  ] as const)
    expect(plainTextOf(await openSmallSecret(laptop, id, makePicture("market"), {}))).toBe(`content of ${title}`);

  for (const page of [lostPhone, await person.open("lost phone")]) {
    expect(await readAccount(page)).toMatchObject({ view: { openedKeyring: null } });
    expect(page.state).toEqual({ status: "locked" });
    expect(await listTitles(page)).toEqual([undefined, undefined]);
  }
  await expect(unlock(await person.open("other"), makePasskey(), {})).rejects.toEqual(
    errorWithCode("not_this_passkey"),
  );
});

it("killed at any of its writes, before the service has it or after, it ends in one account by going on", async () => {
  const names = ["First", "Second"];
  const { person, ids } = await createSecrets(...names);
  const measuredCalls = await person.httpOn("measure");
  const measuringVault = await person.open("measure");
  (await unlock(measuringVault, makePicture("market"), {})).opener.wipe();
  measuredCalls.calls.length = 0;
  await rotate(measuringVault, [makePicture("market")], {});
  const writes = [...new Set(measuredCalls.calls)].filter((call) => !call.startsWith("GET "));
  expect(writes).toEqual(expect.arrayContaining(["POST /user/keyring/stage", "PUT /user/keyring"]));

  for (const write of writes)
    for (const phase of ["before", "after"] as const) {
      const device = `device at ${write}, ${phase}`;
      const calls = await person.httpOn(device);
      const page = await person.open(device);
      (await unlock(page, makePicture("market"), {})).opener.wipe();
      await setDeviceKind(page, "own");
      let isKilled = false;
      calls[phase] = (call) => {
        isKilled ||= call === write;
        if (isKilled) throw new PortalError("service_unavailable"); // and never comes back for this page
      };
      await expect(rotate(page, [makePicture("market")], {})).rejects.toEqual(errorWithCode("service_unavailable"));
      Object.assign(calls, { before: () => undefined, after: () => undefined });

      const next = await person.open(device);
      await readAccount(next);
      // the switch took place
      if (next.state.status !== "unlocked") (await unlock(next, makePicture("market"), {})).opener.wipe();
      expect(await listTitles(next)).toEqual(names);
      expect(await rotate(next, [makePicture("market")], {})).toMatchObject({ removedOpenerIds: [] });
      for (const [index, id] of ids.entries())
        expect(plainTextOf(await openSmallSecret(next, id, makePicture("market"), {}))).toBe(
          `content of ${names[index] ?? ""}`,
        );
      expect((await next.service.getKeyring(null))?.slots).toHaveLength(1);
    }
});
