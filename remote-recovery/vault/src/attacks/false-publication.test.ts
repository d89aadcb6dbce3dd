/*
 * The attacker is the service, and wants the only key of a content to go: it says that an upload is
 * published, or dropped, and it is not; or it loses answers, so that the device seals or signs
 * something twice.
 */
import "fake-indexeddb/auto";

import { PortalError } from "@relicario/shared/errors";

import { list } from "../operations/list.ts";
import { purge } from "../operations/purge.ts";
import { trash } from "../operations/favorite-and-trash.ts";
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
  makeProtectOrder,
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
let first: string;
let uploadId: string;

beforeEach(async () => {
  world = createWorld();
  ({ tab, laptop, first } = await openTabWithFirstSecret(world));
  uploadId = await sendUpload(makeProtectOrder(fileSecret("Film", file)));
});

const makeVersionOrder = (): UploadPlan => ({
  operation: "update",
  secretId: first,
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
const versionsOf = (secretId: string): number | undefined => world.service.account.rows.get(secretId)?.versions.length;

/** Begins and sends; publishing is left. */
async function sendUpload(order: UploadPlan): Promise<string> {
  const id = await beginUpload(laptop, tab, order, {});
  await tab.send(id, file);
  return id;
}

function makeServiceHonest(): void {
  world.service.beforeCall = () => undefined;
  world.service.transformAnswer = (_call, answer) => answer;
}

/** What every question about the upload is answered with, while nothing is published. */
function claimPublished(): void {
  world.service.beforeCall = (call) => {
    if (isPut(call)) throw new PortalError("conflict");
  };
  world.service.transformAnswer = (call, answer) =>
    call.startsWith("GET /v2/") ? { ...(answer as object), published: { version: 1, state_rev: 2 } } : answer;
}

/**
 * The finishing calls arrive, or do not, and no answer to anything comes back after them: the tab
 * is closed then.
 */
async function finishWithLostAnswers(
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
  world.service.transformAnswer = (call, answer) => (isPut(call) ? refuse() : answer);
  await expect(finishUpload(laptop, tab, id, protection, {})).rejects.toMatchObject({ code: "service_unavailable" });
  makeServiceHonest();
  laptop = await world.open();
  tab = await openUploadingTab(world, laptop);
}

describe("a service that wants the only key of a content to go", () => {
  it("says that it is published, and shows nothing: the upload stays, and is published when it lets it be", async () => {
    claimPublished();
    await expect(finish()).rejects.toMatchObject({ code: "publication_not_seen" });
    expect([await hasRecord(), await listTitles()]).toEqual([true, ["First"]]);
    makeServiceHonest();
    await finish();
    expect([await hasRecord(), await listTitles()]).toEqual([false, ["Film", "First"]]);
  });

  it("says so to a locked device: it waits for unlocking", async () => {
    laptop.lock();
    claimPublished();
    await expect(finish()).rejects.toMatchObject({ code: "vault_locked" });
    expect(await hasRecord()).toBe(true);
    makeServiceHonest();
    (await unlock(laptop, makePicture("market"), {})).opener.wipe();
    await finish();
    expect(await hasRecord()).toBe(false);
  });

  it("answers the finishing call as if it were done, and takes it back: the upload stays, and goes out once more as it was", async () => {
    const before = world.service.snapshot();
    world.service.transformAnswer = (call, answer) => {
      if (isPut(call)) world.service.account = structuredClone(before);
      return answer;
    };
    await expect(finish()).rejects.toMatchObject({ code: "older_state" });
    expect(await hasRecord()).toBe(true);
    makeServiceHonest();
    const { rejectedState } = laptop;
    if (rejectedState === null) throw new TypeError("an alarm");
    await acceptOlderState(laptop, rejectedState);
    expect(await listTitles()).toEqual(["First"]);
    await finish();
    expect([await hasRecord(), await listTitles()]).toEqual([false, ["Film", "First"]]);
  });

  it("says that it never heard of an upload half sent: the record stays, and it goes on when it does", async () => {
    const halfSentId = await beginUpload(laptop, tab, makeProtectOrder(fileSecret("Half", file)), {});
    const keptUploads = world.service.account.uploads;
    world.service.account.uploads = new Map();
    await expect(tab.send(halfSentId, file)).rejects.toMatchObject({ code: "upload_dropped" });
    expect(await hasRecord(halfSentId)).toBe(true);
    if (keptUploads !== undefined) world.service.account.uploads = keptUploads;
    await tab.send(halfSentId, file);
    await finish(halfSentId);
    expect(await listTitles()).toEqual(["First", "Half"]);
  });

  it("says that it never heard of an upload whose finishing call it swallowed: the record stays", async () => {
    await finishWithLostAnswers(uploadId, "never_arrives");
    world.service.account.uploads?.clear();
    await expect(finish()).rejects.toMatchObject({ code: "upload_dropped" });
    expect(await hasRecord()).toBe(true);
  });

  it("forgets an upload that it published: the account shows it, and the record goes", async () => {
    await finishWithLostAnswers(uploadId, "arrives");
    world.service.account.uploads?.clear();
    await expect(finish()).resolves.toMatchObject({ version: 1 });
    expect([await hasRecord(), await listTitles()]).toEqual([false, ["Film", "First"]]);
  });
});

describe("a lost answer", () => {
  it("is made good by what the account shows, without a second finishing call", async () => {
    await finishWithLostAnswers(uploadId, "arrives");
    world.service.calls.length = 0;
    await finish();
    expect([await hasRecord(), world.service.calls.filter(isPut)]).toEqual([false, []]);
  });

  it("does not make the device sign twice: the same bytes go out again, by a tab that is opened later too", async () => {
    const bodies: string[] = [];
    const { http } = world.service;
    const request = http.request.bind(http);
    Object.assign(http, {
      request: (...parameters: Parameters<typeof http.request>) => {
        if (isPut(`${parameters[0]} ${parameters[1]}`)) bodies.push(JSON.stringify(parameters[3]?.body));
        return request(...parameters);
      },
    });
    await finishWithLostAnswers(uploadId, "never_arrives");
    await finish();
    expect(bodies.length).toBeGreaterThan(1);
    expect(new Set(bodies).size).toBe(1);
    expect(await listTitles()).toEqual(["Film", "First"]);
  });

  it.each<[string, (secretId: string) => Promise<unknown>]>([
    [
      "made a further version of it",
      (secretId) =>
        withPhone((phone) =>
          update(
            phone,
            secretId,
            {
              baseVersion: versionsOf(secretId) ?? 0,
              content: { contentKind: "text", name: "n", mime: "text/plain", content: new Blob(["on"]) },
            },
            {},
          ),
        ),
    ],
    [
      "renamed it",
      (secretId) =>
        withPhone((phone) => update(phone, secretId, { baseVersion: versionsOf(secretId) ?? 0, title: "Another" }, {})),
    ],
    [
      "removed it for good",
      (secretId) =>
        withPhone(async (phone) => {
          await trash(phone, secretId);
          await purge(phone, [secretId], {});
        }),
    ],
  ])("is seen although another device %s since, and nothing comes back", async (_case, change) => {
    for (const [id, version] of [
      [uploadId, 1],
      [await sendUpload(makeVersionOrder()), 2],
    ] as const) {
      const secretId = (await tab.records.get(id))?.secretId ?? "";
      await finishWithLostAnswers(id, "arrives");
      await change(secretId);
      const versionCount = versionsOf(secretId);
      await expect(finish(id)).resolves.toEqual({ secretId, version });
      expect([await hasRecord(id), versionsOf(secretId)]).toEqual([false, versionCount]);
    }
  });

  it.each(["arrives", "never_arrives"] as const)(
    "to the very first secret, whose call %s, makes one account, and keeps the upload till it is seen",
    async (delivery) => {
      world = createWorld();
      laptop = await world.open();
      tab = await openUploadingTab(world, laptop);
      const id = await sendUpload(makeProtectOrder(fileSecret("Film", file, makePicture("market"))));
      await finishWithLostAnswers(id, delivery, fileSecret("Film", file, makePicture("market")).protection);
      // it went out once more; after a reload its picture shows it
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

  it("does not take another device's version for ours", async () => {
    const id = await sendUpload(makeVersionOrder());
    await finishWithLostAnswers(id, "never_arrives");
    await withPhone((phone) =>
      update(
        phone,
        first,
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
  it("that finish at the same time publish once, and both say so", async () => {
    const otherTab = await openUploadingTab(world, await world.open());
    const answers = await Promise.all([finish(), finish(uploadId, otherTab)]);
    expect(answers[0]).toEqual(answers[1]);
    expect([await hasRecord(), await listTitles()]).toEqual([false, ["Film", "First"]]);
  });

  it("of which one gives it up: nothing of it is published by the other", async () => {
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
