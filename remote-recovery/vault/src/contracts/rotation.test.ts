import "fake-indexeddb/auto";

import { PortalError } from "@relicario/shared/errors";

import { resealForAllOpeners } from "../operations/reseal-for-all-openers.ts";
import { addOpener, listOpeners } from "../operations/openers.ts";
import { protect } from "../operations/protect.ts";
import { openSmallSecret } from "../operations/open-secret.ts";
import { recogniseOpenerId, rotateAccountKey } from "../operations/rotate.ts";
import { setDeviceKind } from "../operations/set-device-kind.ts";
import { unlock } from "../openers/unlock.ts";
import { readAccount } from "../keyring/read-account.ts";
import { makePicture, textSecret } from "../testing/world.ts";
import type { VaultSession } from "../session/vault-session.ts";
import type { ServicePerson } from "./service-world.ts";
import { errorWithCode, makePasskey, decodeContent, listTitles, withServiceWorld } from "./service-harness.ts";

const world = withServiceWorld();

/** Opens a user's own device with these secrets, protected by a picture. */
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

it("a lost device shows no titles, and everything opens with the presented picture", async () => {
  const {
    person,
    laptop,
    ids: [firstId = ""],
  } = await createSecrets("First");
  const { openerId } = await addOpener(laptop, { key: makePasskey(), name: "Phone" }, makePicture("market"), {});
  await resealForAllOpeners(laptop, makePicture("market"), {});
  const { secretId: secondId } = await protect(laptop, textSecret("Second"), {});
  const lostPhone = await person.open("lost phone");
  (await unlock(lostPhone, makePicture("market"), {})).opener.wipe();
  await setDeviceKind(lostPhone, "own");
  expect(await listTitles(lostPhone)).toEqual(["First", "Second"]);

  expect(await recogniseOpenerId(laptop, makePicture("market"), {})).not.toEqual({ openerId });
  const { removedOpenerIds } = await rotateAccountKey(laptop, [makePicture("market")], {});
  expect(removedOpenerIds).toEqual([openerId]);
  expect((await listOpeners(laptop)).openers).toMatchObject([{ kind: "image" }]);
  expect(await listTitles(laptop)).toEqual(["First", "Second"]);
  for (const [id, title] of [
    [firstId, "First"],
    [secondId, "Second"],
  ] as const)
    expect(decodeContent(await openSmallSecret(laptop, id, makePicture("market"), {}))).toBe(`content of ${title}`);

  for (const page of [lostPhone, await person.open("lost phone")]) {
    expect(await readAccount(page)).toMatchObject({ view: { openedKeyring: null } });
    expect(page.state).toEqual({ status: "locked" });
    expect(await listTitles(page)).toEqual([undefined, undefined]);
  }
  await expect(unlock(await person.open("other"), makePasskey(), {})).rejects.toEqual(
    errorWithCode("not_this_passkey"),
  );
});

it("a rotation interrupted at any write, before or after the service has received it, completes when repeated", async () => {
  const names = ["First", "Second"];
  const { person, ids } = await createSecrets(...names);
  const measuredCalls = await person.httpOn("measure");
  const measuringVault = await person.open("measure");
  (await unlock(measuringVault, makePicture("market"), {})).opener.wipe();
  measuredCalls.calls.length = 0;
  await rotateAccountKey(measuringVault, [makePicture("market")], {});
  const writes = [...new Set(measuredCalls.calls)].filter((call) => !call.startsWith("GET "));
  expect(writes).toEqual(expect.arrayContaining(["POST /user/keyring/stage", "PUT /user/keyring"]));

  for (const write of writes)
    for (const phase of ["beforeCall", "afterCall"] as const) {
      const device = `device at ${write}, ${phase}`;
      const calls = await person.httpOn(device);
      const page = await person.open(device);
      (await unlock(page, makePicture("market"), {})).opener.wipe();
      await setDeviceKind(page, "own");
      let isKilled = false;
      calls[phase] = (call) => {
        isKilled ||= call === write;
        if (isKilled) throw new PortalError("service_unavailable"); // and all later calls of this page
      };
      await expect(rotateAccountKey(page, [makePicture("market")], {})).rejects.toEqual(
        errorWithCode("service_unavailable"),
      );
      Object.assign(calls, { beforeCall: () => undefined, afterCall: () => undefined });

      const nextPage = await person.open(device);
      await readAccount(nextPage);
      // the new key was already published
      if (nextPage.state.status !== "unlocked") (await unlock(nextPage, makePicture("market"), {})).opener.wipe();
      expect(await listTitles(nextPage)).toEqual(names);
      expect(await rotateAccountKey(nextPage, [makePicture("market")], {})).toMatchObject({ removedOpenerIds: [] });
      for (const [index, id] of ids.entries())
        expect(decodeContent(await openSmallSecret(nextPage, id, makePicture("market"), {}))).toBe(
          `content of ${names[index] ?? ""}`,
        );
      expect((await nextPage.service.getKeyring(null))?.slots).toHaveLength(1);
    }
});
