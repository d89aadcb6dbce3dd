/**
 * Attacker: the service. It wants the device to delete the only key of a content, by falsely
 * claiming that an upload was published or dropped. It also wants the device to seal or sign
 * something twice, by losing responses.
 */
import "fake-indexeddb/auto";

import { PortalError } from "@relicario/shared/errors";

import { list } from "../operations/list.ts";
import { purge } from "../operations/purge.ts";
import { moveToTrash } from "../operations/favorite-and-trash.ts";
import {
  beginUpload,
  discardUpload,
  finishUpload,
  listUploads,
  type Protection,
  type UploadPlan,
} from "../operations/resumable-uploads.ts";
import { unlock } from "../openers/unlock.ts";
import { update } from "../operations/update.ts";
import { acceptOlderState } from "../keyring/refresh-keyring.ts";
import { fakePartBytes } from "../testing/fake-uploads.ts";
import {
  fileSecret,
  makeProtectPlan,
  randomFile,
  openTabWithFirstSecret,
  openUploadingTab,
  type UploadingTab,
} from "../testing/uploading-tab.ts";
import { createWorld, makePicture, type World } from "../testing/world.ts";
import type { VaultSession } from "../session/vault-session.ts";

const { file } = randomFile(2 * fakePartBytes + 77);
let world: World;
let laptop: VaultSession;
let tab: UploadingTab;
let firstId: string;
let uploadId: string;

beforeEach(async () => {
  world = createWorld();
  ({ tab, laptop, firstId: firstId } = await openTabWithFirstSecret(world));
  uploadId = await sendUpload(makeProtectPlan(fileSecret("Film", file)));
});

const makeUpdatePlan = (): UploadPlan => ({
  operation: "update",
  secretId: firstId,
  change: { baseVersion: 1, content: { contentKind: "file", name: "film.mp4", mime: "video/mp4" } },
  size: file.size,
  handle: null,
});
const finish = (id = uploadId, targetTab = tab): Promise<unknown> =>
  finishUpload(targetTab.vault, targetTab, id, null, {});
const isPut = (call: string): boolean => call.startsWith("PUT /v2/");
const hasRecord = async (id = uploadId): Promise<boolean> => (await tab.records.get(id)) !== null;
const listTitles = async (): Promise<(string | undefined)[]> =>
  (await list(laptop)).map(({ label }) => label?.title).sort();
const countVersions = (secretId: string): number | undefined =>
  world.service.account.rows.get(secretId)?.versions.length;

/** Seals and sends the parts without publishing. */
async function sendUpload(plan: UploadPlan): Promise<string> {
  const id = await beginUpload(laptop, tab, plan, {});
  await tab.send(id, file);
  return id;
}

function makeServiceHonest(): void {
  world.service.beforeCall = () => undefined;
  world.service.transformResponse = (_call, response) => response;
}

/** Makes the service claim that the upload is published, although nothing is. */
function claimPublished(): void {
  world.service.beforeCall = (call) => {
    if (isPut(call)) throw new PortalError("conflict");
  };
  world.service.transformResponse = (call, response) =>
    call.startsWith("GET /v2/") ? { ...(response as object), published: { version: 1, state_rev: 2 } } : response;
}

/**
 * Sends the finishing call, which arrives or not. Loses all later responses, then opens the tab
 * again.
 */
async function finishWithLostResponses(
  id: string,
  delivery: "arrives" | "never_arrives",
  protection: Protection | null = null,
): Promise<void> {
  let isSilent = false;
  const refuse = (): void => {
    throw new PortalError("service_unavailable");
  };
  world.service.beforeCall = (call) => {
    if (isSilent) refuse();
    if (!isPut(call)) return;
    isSilent = true;
    if (delivery === "never_arrives") refuse();
  };
  world.service.transformResponse = (call, response) => (isPut(call) ? refuse() : response);
  await expect(finishUpload(laptop, tab, id, protection, {})).rejects.toMatchObject({ code: "service_unavailable" });
  makeServiceHonest();
  laptop = await world.open();
  tab = await openUploadingTab(world, laptop);
  if (protection === null) (await unlock(laptop, makePicture("market"), {})).opener.wipe();
}

describe("a service that wants the only key of a content deleted", () => {
  it("claims an upload as published but does not list it: the upload stays, and can be published later", async () => {
    claimPublished();
    await expect(finish()).rejects.toMatchObject({ code: "publication_not_seen" });
    expect([await hasRecord(), await listTitles()]).toEqual([true, ["First"]]);
    makeServiceHonest();
    await finish();
    expect([await hasRecord(), await listTitles()]).toEqual([false, ["Film", "First"]]);
  });

  it("claims an upload as published to a locked device: the upload waits for unlocking", async () => {
    laptop.lock();
    claimPublished();
    await expect(finish()).rejects.toMatchObject({ code: "vault_locked" });
    expect(await hasRecord()).toBe(true);
    makeServiceHonest();
    (await unlock(laptop, makePicture("market"), {})).opener.wipe();
    await finish();
    expect(await hasRecord()).toBe(false);
  });

  it("confirms the publication of an upload, then rolls the publication back: the upload stays, and is published again unchanged", async () => {
    const snapshot = world.service.snapshot();
    world.service.transformResponse = (call, response) => {
      if (isPut(call)) world.service.account = structuredClone(snapshot);
      return response;
    };
    await expect(finish()).rejects.toMatchObject({ code: "older_state" });
    expect(await hasRecord()).toBe(true);
    makeServiceHonest();
    const { rejectedState } = laptop;
    if (rejectedState === null) throw new TypeError("expected the state to be rejected");
    await acceptOlderState(laptop, rejectedState);
    expect(await listTitles()).toEqual(["First"]);
    await finish();
    expect([await hasRecord(), await listTitles()]).toEqual([false, ["Film", "First"]]);
  });

  it("denies a half-sent upload: the upload's record stays, and sending can resume", async () => {
    const halfSentId = await beginUpload(laptop, tab, makeProtectPlan(fileSecret("Half", file)), {});
    const hiddenUploads = world.service.account.uploads;
    world.service.account.uploads = new Map();
    await expect(tab.send(halfSentId, file)).rejects.toMatchObject({ code: "upload_dropped" });
    expect(await hasRecord(halfSentId)).toBe(true);
    if (hiddenUploads !== undefined) world.service.account.uploads = hiddenUploads;
    await tab.send(halfSentId, file);
    await finish(halfSentId);
    expect(await listTitles()).toEqual(["First", "Half"]);
  });

  it("denies an upload whose finishing call it dropped: the upload's record stays", async () => {
    await finishWithLostResponses(uploadId, "never_arrives");
    world.service.account.uploads?.clear();
    await expect(finish()).rejects.toMatchObject({ code: "upload_dropped" });
    expect(await hasRecord()).toBe(true);
  });

  it("denies an upload that it published: the account lists the upload, and the upload's record is deleted", async () => {
    await finishWithLostResponses(uploadId, "arrives");
    world.service.account.uploads?.clear();
    await expect(finish()).resolves.toMatchObject({ version: 1 });
    expect([await hasRecord(), await listTitles()]).toEqual([false, ["Film", "First"]]);
  });
});

describe("a lost response", () => {
  it("is resolved by the account's list, without a second finishing call", async () => {
    await finishWithLostResponses(uploadId, "arrives");
    world.service.calls.length = 0;
    await finish();
    expect([await hasRecord(), world.service.calls.filter(isPut)]).toEqual([false, []]);
  });

  it("does not make the device sign twice: the device sends the same bytes again, also from a tab opened later", async () => {
    const bodies: string[] = [];
    const { http } = world.service;
    const request = http.request.bind(http);
    Object.assign(http, {
      request: (...parameters: Parameters<typeof http.request>) => {
        if (isPut(`${parameters[0]} ${parameters[1]}`)) bodies.push(JSON.stringify(parameters[3]?.body));
        return request(...parameters);
      },
    });
    await finishWithLostResponses(uploadId, "never_arrives");
    await finish();
    expect(bodies.length).toBeGreaterThan(1);
    expect(new Set(bodies).size).toBe(1);
    expect(await listTitles()).toEqual(["Film", "First"]);
  });

  it.each<[string, (secretId: string) => Promise<unknown>]>([
    [
      "saved another version",
      (secretId) =>
        withPhone((phone) =>
          update(
            phone,
            secretId,
            {
              baseVersion: countVersions(secretId) ?? 0,
              content: { contentKind: "text", name: "n", mime: "text/plain", content: new Blob(["on"]) },
            },
            {},
          ),
        ),
    ],
    [
      "renamed the secret",
      (secretId) =>
        withPhone((phone) =>
          update(phone, secretId, { baseVersion: countVersions(secretId) ?? 0, title: "Another" }, {}),
        ),
    ],
    [
      "purged the secret",
      (secretId) =>
        withPhone(async (phone) => {
          await moveToTrash(phone, secretId);
          await purge(phone, [secretId], {});
        }),
    ],
  ])("is resolved although another device %s meanwhile, and nothing is restored", async (_case, change) => {
    for (const [id, version] of [
      [uploadId, 1],
      [await sendUpload(makeUpdatePlan()), 2],
    ] as const) {
      const secretId = (await tab.records.get(id))?.secretId ?? "";
      await finishWithLostResponses(id, "arrives");
      await change(secretId);
      const versionCount = countVersions(secretId);
      await expect(finish(id)).resolves.toEqual({ secretId, version });
      expect([await hasRecord(id), countVersions(secretId)]).toEqual([false, versionCount]);
    }
  });

  it.each(["arrives", "never_arrives"] as const)(
    "of the first secret, whose call %s, creates one account, and keeps the upload until the account lists it",
    async (delivery) => {
      world = createWorld();
      laptop = await world.open();
      tab = await openUploadingTab(world, laptop);
      const id = await sendUpload(makeProtectPlan(fileSecret("Film", file, makePicture("market"))));
      await finishWithLostResponses(id, delivery, fileSecret("Film", file, makePicture("market")).protection);
      // sends it again, but after a reload only the picture can confirm it
      await expect(finish(id)).rejects.toMatchObject({ code: "vault_locked" });
      expect(await hasRecord(id)).toBe(true);
      (await unlock(laptop, makePicture("market"), {})).opener.wipe();
      await finish(id);
      expect([await hasRecord(id), await listTitles(), world.service.account.keyring?.states.length]).toEqual([
        false,
        ["Film"],
        1,
      ]);
    },
  );

  it("does not confuse another device's version with this device's", async () => {
    const id = await sendUpload(makeUpdatePlan());
    await finishWithLostResponses(id, "never_arrives");
    await withPhone((phone) =>
      update(
        phone,
        firstId,
        {
          baseVersion: 1,
          content: { contentKind: "text", name: "n", mime: "text/plain", content: new Blob(["phone"]) },
        },
        {},
      ),
    );
    await expect(finish(id)).rejects.toMatchObject({ code: "version_conflict" });
    expect(await hasRecord(id)).toBe(true);
  });
});

describe("two tabs", () => {
  it("that finish an upload at the same time publish it once, with the same result", async () => {
    const otherTab = await openUploadingTab(world, await world.open());
    (await unlock(otherTab.vault, makePicture("market"), {})).opener.wipe();
    const results = await Promise.all([finish(), finish(uploadId, otherTab)]);
    expect(results[0]).toEqual(results[1]);
    expect([await hasRecord(), await listTitles()]).toEqual([false, ["Film", "First"]]);
  });

  it("do not publish an upload that one of the tabs discards", async () => {
    world.service.beforeCall = async (call) => {
      if (call === "GET /secrets/store") await discardUpload(tab, uploadId);
    };
    await expect(finish()).rejects.toMatchObject({ code: "not_found" });
    makeServiceHonest();
    expect([await listTitles(), await listUploads(laptop, tab)]).toEqual([["First"], []]);
  });
});

async function withPhone(callback: (phone: VaultSession) => Promise<unknown>): Promise<void> {
  const phone = await world.open("phone");
  (await unlock(phone, makePicture("market"), {})).opener.wipe();
  await callback(phone);
}
