import "fake-indexeddb/auto";

import { isPortalError } from "@relicario/shared/errors";

import { protect } from "../operations/protect.ts";
import { setDeviceKind } from "../operations/set-device-kind.ts";
import { update } from "../operations/update.ts";
import { findPerson, pinPerson } from "../people/people.ts";
import { createRequest } from "../requests/create-request.ts";
import { presentKey } from "../rpc/presented-opener.ts";
import { generateRecoveryCode } from "../seal/recovery-code.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { createSharingWorld, marketPicture, type SharingWorld } from "../testing/sharing-world.ts";
import { textSecret } from "../testing/world.ts";
import { createOpenedContentStore } from "../transfer/opened-content-store.ts";
import { openUploadingTab } from "../testing/uploading-tab.ts";
import { createRefreshedList } from "../worker/refreshed-list.ts";
import { createVaultOperations } from "../worker/vault-operations.ts";

/*
 * Every operation that the vault offers, on an own device that holds metadata keys and no account
 * key: the list comes from the vault, so that a new operation fails here until it is placed.
 */

interface Fixture {
  readonly worlds: SharingWorld;
  readonly vault: VaultSession;
  readonly operations: object;
  readonly keptId: string;
  readonly trashedId: string;
  readonly shareId: string;
  readonly requestId: string;
}

type Call = (fixture: Fixture) => readonly unknown[] | Promise<readonly unknown[]>;

/** Works; what it does is no more than the threat model says. Null: not called here. */
const free: Readonly<Record<string, Call | null>> = {
  refresh: () => [],
  listImages: () => [],
  setFavorite: ({ keptId }) => [keptId, true],
  trash: ({ keptId }) => [keptId],
  restore: ({ keptId }) => [keptId],
  setDeviceKind: () => ["own"],
  getHistory: () => [null],
  listVersions: ({ keptId }) => [keptId],
  listUploads: null,
  "openers.list": () => [],
  "deviceLinks.offer": null,
  "deviceLinks.join": null,
  "deviceLinks.inspect": null,
  "shares.list": () => [],
  "shares.listForSecret": ({ keptId }) => [keptId],
  "shares.revoke": ({ shareId }) => [shareId],
  "people.find": () => ["Ben"],
  "people.list": () => [],
  "people.getOwnSafetyWords": () => [],
  "received.list": () => [],
  "requests.list": () => [],
};

/** Takes no opener, or null, and fails: the account key is missing. */
const author: Readonly<Record<string, Call>> = {
  confirmTrash: ({ trashedId }) => [[trashedId]],
  purge: ({ trashedId }) => [[trashedId]],
  removeVersions: ({ keptId }) => [keptId, [1]],
  "openers.add": () => [
    { handle: presentKey({ kind: "recovery_code", code: generateRecoveryCode().words.join(" ") }), name: "Paper" },
    null,
  ],
  "shares.getLink": ({ shareId }) => [shareId, null],
  "shares.change": ({ shareId }) => [shareId, { maxViews: null }],
  "people.pin": async ({ vault }) => [await findPerson(vault, "Ben")],
  "people.setBlocked": async ({ vault }) => [await findPerson(vault, "Ben"), true],
  "people.setCompared": async ({ worlds: { adasVault: owner } }) => {
    const ben = await findPerson(owner, "Ben");
    await pinPerson(owner, ben);
    return [ben.userId, true];
  },
  "received.open": ({ shareId }) => [shareId, null],
  "requests.create": ({ vault }) => [makeRequest(vault), null],
  "requests.getLink": ({ requestId }) => [requestId, null],
  "requests.open": ({ requestId }) => [requestId, null],
  "requests.collect": ({ requestId }) => [requestId],
  "requests.drop": ({ requestId }) => [requestId],
};

/** Takes an opener, whose handle nobody can make up. */
const withOpener: Readonly<Record<string, (handle: object) => readonly unknown[]>> = {
  unlock: (handle) => [handle],
  openSecret: (handle) => ["", handle],
  checkCopy: (handle) => ["", handle],
  restoreVersion: (handle) => ["", 1, handle],
  exportSecrets: (handle) => [[], handle],
  createKit: (handle) => [[], handle],
  "openers.resealForAllOpeners": (handle) => [handle],
  "openers.remove": (handle) => ["", handle],
  "openers.recognise": (handle) => [handle],
  "openers.rotate": (handle) => [[handle]],
  "openers.replaceImage": (handle) => [handle, { handle, name: "" }],
  "deviceLinks.approve": (handle) => ["", handle],
  "shares.create": (handle) => [{ picture: null }, handle],
  "shares.updateContent": (handle) => ["", handle],
};

/** Takes null for an opener that is kept open, which no reload survives. */
const withKeptOpener: Readonly<Record<string, Call>> = {
  openSecret: ({ keptId }) => [keptId, null],
  restoreVersion: ({ keptId }) => [keptId, 1, null],
  "shares.create": ({ keptId, vault }) => [makeShare(keptId, vault), null],
  "shares.updateContent": ({ shareId }) => [shareId, null],
};

let fixture: Fixture;

beforeAll(async () => {
  const worlds = await createSharingWorld();
  const { adasVault: owner, secretId: keptId } = worlds;
  await update(owner, keptId, {
    baseVersion: 1,
    content: { contentKind: "text", name: "a.txt", mime: "text/plain", content: new Blob(["second"]) },
  });
  const { secretId: trashedId } = await protect(owner, textSecret("In the trash"), {});
  const { shareId } = await worlds.share({ maxViews: 3 });
  const { requestId } = await createRequest(owner, makeRequest(owner), marketPicture);
  await setDeviceKind(owner, "own");
  const vault = await worlds.ada.open();
  await vault.service.trash(trashedId);
  const uploads = await openUploadingTab(worlds.ada, vault);
  const operations = createVaultOperations({
    uploads,
    origin: "",
    kitFile: () => Promise.reject(new Error("no kit is made here")),
    refreshedList: createRefreshedList(),
    openedContents: createOpenedContentStore(() => uploads.calls),
  });
  fixture = { worlds, vault, operations, keptId, trashedId, shareId, requestId };
});

function makeRequest({ now }: VaultSession) {
  const expiresAt = new Date(now() + 86_400_000).toISOString();
  return { title: "Deed", note: "", requesterName: "Ada", expiresAt, maxSize: 1_000, notify: false };
}

function makeShare(secretId: string, { now }: VaultSession) {
  const expiresAt = new Date(now() + 86_400_000).toISOString();
  return { secretId, to: { audience: "public" }, expiresAt, maxViews: 1, password: null, picture: null, notify: false };
}

function listOperations(node: object, path: readonly string[] = []): string[] {
  return Object.entries(node).flatMap(([name, value]) =>
    typeof value === "function" ? [[...path, name].join(".")] : listOperations(value as object, [...path, name]),
  );
}

async function run(name: string, args: readonly unknown[]): Promise<string> {
  const operation = name
    .split(".")
    .reduce<unknown>((node, part) => (node as Readonly<Record<string, unknown>>)[part], fixture.operations) as (
    ...parameters: readonly unknown[]
  ) => Promise<unknown>;
  try {
    await operation(fixture.vault, ...args);
    return "done";
  } catch (error) {
    if (isPortalError(error)) return error.code;
    throw error;
  }
}

describe("an own device with metadata keys alone", () => {
  it("is tried with every operation of the vault", () => {
    const tables = [free, author, withOpener].flatMap((table) => Object.keys(table));
    expect(tables.toSorted()).toEqual(listOperations(fixture.operations).toSorted());
    expect(fixture.vault.accountKey).toBeNull();
  });

  it.each(Object.keys(author))("cannot %s", async (name) => {
    expect(await run(name, (await author[name]?.(fixture)) ?? [])).toBe("show_opener_first");
  });

  it.each(Object.keys(withOpener))("cannot %s without an opener's handle", async (name) => {
    expect(["picture_needed", "opener_needed"]).toContain(await run(name, withOpener[name]?.({}) ?? []));
  });

  it.each(Object.keys(withKeptOpener))("cannot %s with the opener that was kept open before", async (name) => {
    expect(await run(name, (await withKeptOpener[name]?.(fixture)) ?? [])).toBe("show_opener_first");
  });

  it("cannot protect, nor replace a content", async () => {
    const { vault, keptId } = fixture;
    await expect(protect(vault, textSecret("New"), {})).rejects.toMatchObject({ code: "show_opener_first" });
    const content = { contentKind: "text", name: "a.txt", mime: "text/plain", content: new Blob(["forged"]) } as const;
    await expect(update(vault, keptId, { baseVersion: 2, content })).rejects.toMatchObject({
      code: "show_opener_first",
    });
  });

  it("renames", async () => {
    const { vault, keptId } = fixture;
    expect(await update(vault, keptId, { baseVersion: 2, title: "Renamed" })).toEqual({ version: 2 });
  });

  it.each(Object.keys(free).filter((name) => free[name] !== null))("can %s", async (name) => {
    expect(await run(name, (await free[name]?.(fixture)) ?? [])).toBe("done");
  });
});
