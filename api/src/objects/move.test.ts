import { moveObjects } from "@relicario/tooling/operate/move-objects";
import { startBuckets, startFolders, type TestStores } from "@relicario/tooling/objects/testing";
import { checkSystem } from "@relicario/tooling/backup/check";

import { buildChange, buildSecret, confirmChange, type Person } from "../testing/person.ts";
import { startService, type TestService } from "../testing/service.ts";

let stores: readonly [TestStores, TestStores];
beforeAll(async () => {
  stores = [await startFolders(), await startBuckets()];
});
afterAll(async () => {
  for (const { stop } of stores) await stop();
});

async function storeSecret(service: TestService, person: Person): Promise<string> {
  const { body } = buildSecret(person, { bytes: 20_000 });
  expect((await service.call("POST", "/secrets/store", person.token, { body })).status).toBe(200);
  confirmChange(person, body.keyring);
  return body.secret_db_id;
}

async function purgeSecret(service: TestService, person: Person, id: string): Promise<void> {
  expect((await service.call("DELETE", `/secrets/store/${id}`, person.token)).status).toBeLessThan(300);
  const change = buildChange(person, { purge: [id] });
  expect((await service.call("PUT", "/user/keyring", person.token, { body: change })).status).toBe(200);
  confirmChange(person, change);
}

describe("objects move", () => {
  it("moves from a folder to a bucket while services of both settings write, read and purge", async () => {
    const [source, target] = [await stores[0].createAddress(), await stores[1].createAddress()];
    const writingToSource = await startService({ OBJECTS_URL: source, OBJECTS_SECOND_URL: target });
    const { SESSION_KEYS, RECORD_KEY, IDP_AUTHORITY } = writingToSource.app.services.env;
    const shared = {
      DATABASE_URL: writingToSource.database.serviceUrl,
      SESSION_KEYS: JSON.stringify(SESSION_KEYS),
      RECORD_KEY: RECORD_KEY.map((key) => key.toString("base64url")).join(","),
      IDP_AUTHORITY,
    };
    const writingToTarget = await startService({ ...shared, OBJECTS_URL: target, OBJECTS_SECOND_URL: source });
    const onTargetAlone = await startService({ ...shared, OBJECTS_URL: target });
    try {
      const [person, busyPerson] = [await writingToSource.signIn(), await writingToSource.signIn()];
      const ids = [await storeSecret(writingToSource, person), await storeSecret(writingToTarget, person)];
      const purgedIds = [
        await storeSecret(writingToSource, busyPerson),
        await storeSecret(writingToSource, busyPerson),
      ];
      const readSecret = async (service: TestService, id: string) =>
        (await service.call("POST", "/secrets/store/get-secret", person.token, { body: { secret_db_id: id } })).status;
      for (const service of [writingToSource, writingToTarget])
        for (const id of ids) expect(await readSecret(service, id)).toBe(200);

      const moves = [];
      for (const id of purgedIds) {
        moves.push(moveObjects(writingToSource.database.url, source, target));
        await purgeSecret(writingToTarget, busyPerson, id);
        ids.push(await storeSecret(writingToTarget, person));
        await moves.at(-1);
      }
      const results = [...(await Promise.all(moves)), await moveObjects(writingToSource.database.url, source, target)];
      expect(results.flatMap(({ damagedKeys }) => damagedKeys)).toEqual([]);
      expect(results.reduce((sum, { copiedCount }) => sum + copiedCount, 0)).toBeGreaterThan(0);
      expect(results.at(-1)).toEqual({ totalCount: ids.length, copiedCount: 0, damagedKeys: [] });
      await writingToTarget.app.sweep();

      for (const id of ids) expect(await readSecret(onTargetAlone, id)).toBe(200);
      expect(
        await checkSystem({
          databaseUrls: { service: writingToSource.database.url, identity: null },
          objectsUrl: target,
        }),
      ).toEqual({ checkedCount: ids.length, missing: [], changed: [], unreferenced: [] });
      expect(await writingToTarget.listObjects(busyPerson.userId)).toEqual([]);
    } finally {
      for (const service of [onTargetAlone, writingToTarget, writingToSource]) await service.stop();
    }
  });
});
