import "fake-indexeddb/auto";

import type { StoreSecret, VersionLine } from "@relicario/shared/api";
import type { SecretChange } from "@relicario/shared/contract";

import { protect } from "../acts/protect.ts";
import { recover, recoverAny } from "../acts/recover.ts";
import { unlock } from "../acts/unlock.ts";
import { update } from "../acts/update.ts";
import { history, removeVersions, restoreVersion } from "../acts/versions.ts";
import { createWorld, shown, textSecret, type World } from "../testing/world.ts";
import type { VaultContext } from "../vault-context.ts";

/*
 * What the service wants: a content that this account signed, but that never became a version,
 * shown and restored as a former version of it. It has such a content whenever two devices save at
 * once: the one that lost sent everything.
 */

const code = (expected: string): unknown => expect.objectContaining({ code: expected });
const market = shown("market");
const text = (content: string): NonNullable<SecretChange["content"]> => ({
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
async function lostConflict(): Promise<{
  world: World;
  laptop: VaultContext;
  phone: VaultContext;
  secretId: string;
  lost: { ticket: string; content: string };
}> {
  const world = createWorld();
  const laptop = await world.open();
  const { secretId } = await protect(laptop, textSecret("Account", market, "one"), {});
  const phone = await world.open("phone");
  (await unlock(phone, market, {})).opener.forget();
  let lost: Extract<StoreSecret, { content: string }> | null = null;
  world.service.before = async (call) => {
    if (call !== "POST /secrets/store") return;
    world.service.before = () => undefined;
    await update(laptop, secretId, { baseVersion: 1, content: text("pay Ana") }, {});
  };
  await expect(update(phone, secretId, { baseVersion: 1, content: text("pay Mallory") }, {})).rejects.toEqual(
    code("version_conflict"),
  );
  for (const body of world.service.bodies as StoreSecret[])
    if ("content" in body && body.base_version === 1) lost = body;
  if (lost === null) throw new TypeError("nothing was lost");
  expect(world.service.account.rows.get(secretId)?.versions[1]?.content).not.toBe(lost.content);
  await update(laptop, secretId, { baseVersion: 2, content: text("three") }, {});
  return { world, laptop, phone, secretId, lost };
}

/** Puts what lost in the place of version 2, its digest in the lines too. */
function bringBack(world: World, secretId: string, { ticket, content }: { ticket: string; content: string }): void {
  Object.assign(world.service.account.rows.get(secretId)?.versions[1] ?? {}, { ticket, content });
}

/** The lines of versions, wherever they are given, as the service would like them. */
function giveLines(world: World, change: (lines: VersionLine[]) => VersionLine[]): void {
  world.service.answer = (_call, answer) => {
    const given = answer as { versions?: VersionLine[] } | null;
    return given?.versions === undefined ? answer : { ...given, versions: change(given.versions) };
  };
}

describe("a version that lost a conflict", () => {
  it("is not shown as a former version", async () => {
    const { world, laptop, phone, secretId, lost } = await lostConflict();
    expect(textOf((await recover(laptop, secretId, market, { version: 2 })).content)).toBe("pay Ana");
    bringBack(world, secretId, lost);
    for (const vault of [laptop, phone]) {
      await expect(recover(vault, secretId, market, { version: 2 })).rejects.toEqual(code("list_mismatch"));
      await expect(history(vault, secretId, {})).rejects.toEqual(code("list_mismatch"));
    }
    expect(await recover(laptop, secretId, market, {})).toMatchObject({ version: 3, author: "verified" });
  });

  it("is not shown beside the lines that the label commits to", async () => {
    const { world, laptop, secretId, lost } = await lostConflict();
    const before = await laptop.service.versions(secretId);
    bringBack(world, secretId, lost);
    giveLines(world, () => [...before]);
    await expect(recoverAny(laptop, secretId, market, { version: 2 })).rejects.toEqual(code("list_mismatch"));
  });

  it("is not restored, and no new label takes its digest over", async () => {
    const { world, laptop, secretId, lost } = await lostConflict();
    bringBack(world, secretId, lost);
    const sent = world.service.bodies.filter((body) => "keyring" in (body as object)).length;
    await expect(restoreVersion(laptop, secretId, 2, market, {})).rejects.toEqual(code("list_mismatch"));
    await expect(update(laptop, secretId, { baseVersion: 3, content: text("four") }, {})).rejects.toEqual(
      code("list_mismatch"),
    );
    await expect(removeVersions(laptop, secretId, [2], {})).rejects.toEqual(code("list_mismatch"));
    expect(world.service.bodies.filter((body) => "keyring" in (body as object))).toHaveLength(sent);
  });

  it("does not become a version beside the others", async () => {
    const { world, laptop, secretId, lost } = await lostConflict();
    const [newest, ...former] = await laptop.service.versions(secretId);
    if (newest === undefined) throw new TypeError("no versions");
    const hidden: Record<string, (lines: VersionLine[]) => VersionLine[]> = {
      "one left out": (lines) => lines.filter(({ version }) => version !== 1),
      "all left out": () => [newest],
      "one added": (lines) => [...lines, { ...newest, version: 2 }],
      "two exchanged": () => [
        newest,
        ...former.map((line, index) => ({ ...line, ticket_sha256: former[1 - index]?.ticket_sha256 ?? "" })),
      ],
    };
    expect(former).toHaveLength(2);
    for (const [what, change] of Object.entries(hidden)) {
      giveLines(world, change);
      expect([what, await recover(laptop, secretId, market, { version: 1 }).catch((error: unknown) => error)]).toEqual([
        what,
        code("list_mismatch"),
      ]);
      expect([
        what,
        await update(laptop, secretId, { baseVersion: 3, content: text("four") }, {}).catch((error: unknown) => error),
      ]).toEqual([what, code("list_mismatch")]);
    }
    expect(lost.ticket).not.toBe("");
  });
});

describe("former versions that are true", () => {
  it("are committed to through renamings, restorings and removals", async () => {
    const { world, laptop, phone, secretId } = await lostConflict();
    await update(laptop, secretId, { baseVersion: 3, title: "Renamed" }, {});
    await removeVersions(phone, secretId, [1], {});
    expect(await restoreVersion(laptop, secretId, 2, market, {})).toEqual({ version: 4 });
    const tablet = await world.open("tablet");
    for (const [version, content] of [
      [2, "pay Ana"],
      [3, "three"],
      [4, "pay Ana"],
    ] as const) {
      const opened = await recover(tablet, secretId, market, { version });
      expect([textOf(opened.content), opened.author, opened.current]).toEqual([content, "verified", version === 4]);
    }
    expect((await history(phone, secretId, {})).map(({ version, dropped }) => [version, dropped])).toEqual([
      [4, false],
      [3, false],
      [2, false],
      [1, true],
    ]);
  });
});
