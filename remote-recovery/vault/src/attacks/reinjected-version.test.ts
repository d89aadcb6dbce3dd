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

/*
 * What the service wants: a content that this account signed, but that never became a version,
 * shown and restored as a former version of it. It has such a content whenever two devices save at
 * once: the one that lost sent everything.
 */

const errorWithCode = (expected: string): unknown => expect.objectContaining({ code: expected });
const market = makePicture("market");
const textContent = (content: string): NonNullable<SecretChange["content"]> => ({
  contentKind: "text",
  name: "secret.txt",
  mime: "text/plain",
  content: new Blob([content]),
});
const textOf = (content: Uint8Array): string => new TextDecoder().decode(content);

/**
 * Version 2 is the laptop's; the phone's lost the conflict, and the service kept what it sent.
 * Version 3 followed.
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
  const { secretId } = await protect(laptop, textSecret("Account", market, "one"), {});
  const phone = await world.open("phone");
  (await unlock(phone, market, {})).opener.wipe();
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
  if (lostVersion === null) throw new TypeError("nothing was lost");
  expect(world.service.account.rows.get(secretId)?.versions[1]?.content).not.toBe(lostVersion.content);
  await update(laptop, secretId, { baseVersion: 2, content: textContent("three") }, {});
  return { world, laptop, phone, secretId, lostVersion };
}

/** Puts what lost in the place of version 2, its digest in the lines too. */
function reinject(world: World, secretId: string, { ticket, content }: { ticket: string; content: string }): void {
  Object.assign(world.service.account.rows.get(secretId)?.versions[1] ?? {}, { ticket, content });
}

/** The lines of versions, wherever they are given, as the service would like them. */
function alterVersionLines(world: World, change: (lines: VersionRecord[]) => VersionRecord[]): void {
  world.service.transformAnswer = (_call, answer) => {
    const response = answer as { versions?: VersionRecord[] } | null;
    return response?.versions === undefined ? answer : { ...response, versions: change(response.versions) };
  };
}

describe("a version that lost a conflict", () => {
  it("is not shown as a former version", async () => {
    const { world, laptop, phone, secretId, lostVersion } = await createLostConflict();
    expect(textOf((await openSmallSecret(laptop, secretId, market, { version: 2 })).content)).toBe("pay Ana");
    reinject(world, secretId, lostVersion);
    for (const vault of [laptop, phone]) {
      await expect(openSmallSecret(vault, secretId, market, { version: 2 })).rejects.toEqual(
        errorWithCode("list_mismatch"),
      );
      await expect(listVersions(vault, secretId, {})).rejects.toEqual(errorWithCode("list_mismatch"));
    }
    expect(await openSmallSecret(laptop, secretId, market, {})).toMatchObject({ version: 3, author: "verified" });
  });

  it("is not shown beside the lines that the label commits to", async () => {
    const { world, laptop, secretId, lostVersion } = await createLostConflict();
    const before = await laptop.service.getVersions(secretId);
    reinject(world, secretId, lostVersion);
    alterVersionLines(world, () => [...before]);
    await expect(openSecret(laptop, secretId, market, { version: 2 })).rejects.toEqual(errorWithCode("list_mismatch"));
  });

  it("is not restored, and no new label takes its digest over", async () => {
    const { world, laptop, secretId, lostVersion } = await createLostConflict();
    reinject(world, secretId, lostVersion);
    const sent = world.service.bodies.filter((body) => "keyring" in (body as object)).length;
    await expect(restoreVersion(laptop, secretId, 2, market, {})).rejects.toEqual(errorWithCode("list_mismatch"));
    await expect(update(laptop, secretId, { baseVersion: 3, content: textContent("four") }, {})).rejects.toEqual(
      errorWithCode("list_mismatch"),
    );
    await expect(removeVersions(laptop, secretId, [2], {})).rejects.toEqual(errorWithCode("list_mismatch"));
    expect(world.service.bodies.filter((body) => "keyring" in (body as object))).toHaveLength(sent);
  });

  it("does not become a version beside the others", async () => {
    const { world, laptop, secretId, lostVersion } = await createLostConflict();
    const [newest, ...former] = await laptop.service.getVersions(secretId);
    if (newest === undefined) throw new TypeError("no versions");
    const alterations: Record<string, (lines: VersionRecord[]) => VersionRecord[]> = {
      "one left out": (lines) => lines.filter(({ version }) => version !== 1),
      "all left out": () => [newest],
      "one added": (lines) => [...lines, { ...newest, version: 2 }],
      "two exchanged": () => [
        newest,
        ...former.map((line, index) => ({ ...line, ticket_sha256: former[1 - index]?.ticket_sha256 ?? "" })),
      ],
    };
    expect(former).toHaveLength(2);
    for (const [description, change] of Object.entries(alterations)) {
      alterVersionLines(world, change);
      expect([
        description,
        await openSmallSecret(laptop, secretId, market, { version: 1 }).catch((error: unknown) => error),
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

describe("former versions that are true", () => {
  it("are committed to through renamings, restorings and removals", async () => {
    const { world, laptop, phone, secretId } = await createLostConflict();
    await update(laptop, secretId, { baseVersion: 3, title: "Renamed" }, {});
    await removeVersions(phone, secretId, [1], {});
    expect(await restoreVersion(laptop, secretId, 2, market, {})).toEqual({ version: 4 });
    const tablet = await world.open("tablet");
    for (const [version, content] of [
      [2, "pay Ana"],
      [3, "three"],
      [4, "pay Ana"],
    ] as const) {
      const opened = await openSmallSecret(tablet, secretId, market, { version });
      expect([textOf(opened.content), opened.author, opened.current]).toEqual([content, "verified", version === 4]);
    }
    expect((await listVersions(phone, secretId, {})).map(({ version, dropped }) => [version, dropped])).toEqual([
      [4, false],
      [3, false],
      [2, false],
      [1, true],
    ]);
  });
});
