import "fake-indexeddb/auto";

import type { StoreSecretBody, VersionRecord } from "@relicario/shared/api";
import type { SecretChange } from "@relicario/shared/contract";

import { protect } from "../operations/protect.ts";
import { openSmallSecret, openSecret } from "../operations/open-secret.ts";
import { unlock } from "../openers/unlock.ts";
import { update } from "../operations/update.ts";
import { listVersions, removeVersions, restoreVersion } from "../operations/versions.ts";
import { createWorld, makePicture, textSecret, type World } from "../testing/world.ts";
import type { VaultSession } from "../session/vault-session.ts";

/**
 * Attacker: the service. It wants the device to show and restore, as a former version, a content
 * that this account signed but that never became a version. It obtains such a content whenever two
 * devices save at once, because the device that loses the conflict has already sent everything.
 */

const errorWithCode = (expected: string): unknown => expect.objectContaining({ code: expected });
const marketPicture = makePicture("market");
const textContent = (content: string): NonNullable<SecretChange["content"]> => ({
  contentKind: "text",
  name: "secret.txt",
  mime: "text/plain",
  content: new Blob([content]),
});
const decodeText = (content: Uint8Array): string => new TextDecoder().decode(content);

/**
 * Creates version 2 on the laptop; the phone loses the conflict, but the service keeps the phone's
 * content. Then creates version 3.
 */
async function createLostConflict(): Promise<{
  world: World;
  laptop: VaultSession;
  phone: VaultSession;
  secretId: string;
  lostVersion: { ticket: string; content: string };
}> {
  const world = createWorld();
  const laptop = await world.open();
  const { secretId } = await protect(laptop, textSecret("Account", marketPicture, "one"), {});
  const phone = await world.open("phone");
  (await unlock(phone, marketPicture, {})).opener.wipe();
  let lostVersion: Extract<StoreSecretBody, { content: string }> | null = null;
  world.service.beforeCall = async (call) => {
    if (call !== "POST /secrets/store") return;
    world.service.beforeCall = () => undefined;
    await update(laptop, secretId, { baseVersion: 1, content: textContent("pay Ana") }, {});
  };
  await expect(update(phone, secretId, { baseVersion: 1, content: textContent("pay Mallory") }, {})).rejects.toEqual(
    errorWithCode("version_conflict"),
  );
  for (const body of world.service.bodies as StoreSecretBody[])
    if ("content" in body && body.base_version === 1) lostVersion = body;
  if (lostVersion === null) throw new TypeError("expected a lost version");
  expect(world.service.account.rows.get(secretId)?.versions[1]?.content).not.toBe(lostVersion.content);
  await update(laptop, secretId, { baseVersion: 2, content: textContent("three") }, {});
  return { world, laptop, phone, secretId, lostVersion };
}

/** Serves the lost content as version 2, with its digest in the version records. */
function reinject(world: World, secretId: string, { ticket, content }: { ticket: string; content: string }): void {
  Object.assign(world.service.account.rows.get(secretId)?.versions[1] ?? {}, { ticket, content });
}

/** Changes the version records in all responses. */
function alterVersionRecords(world: World, change: (records: VersionRecord[]) => VersionRecord[]): void {
  world.service.transformResponse = (_call, serviceResponse) => {
    const response = serviceResponse as { versions?: VersionRecord[] } | null;
    return response?.versions === undefined ? serviceResponse : { ...response, versions: change(response.versions) };
  };
}

describe("a version that lost a conflict", () => {
  it("is not shown as a former version", async () => {
    const { world, laptop, phone, secretId, lostVersion } = await createLostConflict();
    expect(decodeText((await openSmallSecret(laptop, secretId, marketPicture, { version: 2 })).content)).toBe(
      "pay Ana",
    );
    reinject(world, secretId, lostVersion);
    for (const vault of [laptop, phone]) {
      await expect(openSmallSecret(vault, secretId, marketPicture, { version: 2 })).rejects.toEqual(
        errorWithCode("list_mismatch"),
      );
      await expect(listVersions(vault, secretId, {})).rejects.toEqual(errorWithCode("list_mismatch"));
    }
    expect(await openSmallSecret(laptop, secretId, marketPicture, {})).toMatchObject({
      version: 3,
      signatureStatus: "verified",
    });
  });

  it("is not shown with the records that the label commits to", async () => {
    const { world, laptop, secretId, lostVersion } = await createLostConflict();
    const trueRecords = await laptop.service.getVersions(secretId);
    reinject(world, secretId, lostVersion);
    alterVersionRecords(world, () => [...trueRecords]);
    await expect(openSecret(laptop, secretId, marketPicture, { version: 2 })).rejects.toEqual(
      errorWithCode("list_mismatch"),
    );
  });

  it("is not restored, and no new label commits to the lost digest", async () => {
    const { world, laptop, secretId, lostVersion } = await createLostConflict();
    reinject(world, secretId, lostVersion);
    const changeCount = world.service.bodies.filter((body) => "keyring" in (body as object)).length;
    await expect(restoreVersion(laptop, secretId, 2, marketPicture, {})).rejects.toEqual(
      errorWithCode("list_mismatch"),
    );
    await expect(update(laptop, secretId, { baseVersion: 3, content: textContent("four") }, {})).rejects.toEqual(
      errorWithCode("list_mismatch"),
    );
    await expect(removeVersions(laptop, secretId, [2], {})).rejects.toEqual(errorWithCode("list_mismatch"));
    expect(world.service.bodies.filter((body) => "keyring" in (body as object))).toHaveLength(changeCount);
  });

  it("is not accepted among the other versions", async () => {
    const { world, laptop, secretId, lostVersion } = await createLostConflict();
    const [newestRecord, ...formerRecords] = await laptop.service.getVersions(secretId);
    if (newestRecord === undefined) throw new TypeError("expected versions");
    const alterations: Record<string, (records: VersionRecord[]) => VersionRecord[]> = {
      "one left out": (records) => records.filter(({ version }) => version !== 1),
      "all left out": () => [newestRecord],
      "one added": (records) => [...records, { ...newestRecord, version: 2 }],
      "two exchanged": () => [
        newestRecord,
        ...formerRecords.map((record, index) => ({
          ...record,
          ticket_sha256: formerRecords[1 - index]?.ticket_sha256 ?? "",
        })),
      ],
    };
    expect(formerRecords).toHaveLength(2);
    for (const [description, change] of Object.entries(alterations)) {
      alterVersionRecords(world, change);
      expect([
        description,
        await openSmallSecret(laptop, secretId, marketPicture, { version: 1 }).catch((error: unknown) => error),
      ]).toEqual([description, errorWithCode("list_mismatch")]);
      expect([
        description,
        await update(laptop, secretId, { baseVersion: 3, content: textContent("four") }, {}).catch(
          (error: unknown) => error,
        ),
      ]).toEqual([description, errorWithCode("list_mismatch")]);
    }
    expect(lostVersion.ticket).not.toBe("");
  });
});

describe("genuine former versions", () => {
  it("stay verified through renames, restores and removals", async () => {
    const { world, laptop, phone, secretId } = await createLostConflict();
    await update(laptop, secretId, { baseVersion: 3, title: "Renamed" }, {});
    await removeVersions(phone, secretId, [1], {});
    expect(await restoreVersion(laptop, secretId, 2, marketPicture, {})).toEqual({ version: 4 });
    const tablet = await world.open("tablet");
    for (const [version, content] of [
      [2, "pay Ana"],
      [3, "three"],
      [4, "pay Ana"],
    ] as const) {
      const opened = await openSmallSecret(tablet, secretId, marketPicture, { version });
      expect([decodeText(opened.content), opened.signatureStatus, opened.current]).toEqual([
        content,
        "verified",
        version === 4,
      ]);
    }
    expect((await listVersions(phone, secretId, {})).map(({ version, dropped }) => [version, dropped])).toEqual([
      [4, false],
      [3, false],
      [2, false],
      [1, true],
    ]);
  });
});
