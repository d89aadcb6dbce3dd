/*
 * The attacker is the service, and wants the only key of a content to go: it says that an upload is
 * published, or dropped, and it is not; or it loses answers, so that the device seals or signs
 * something twice.
 */
import "fake-indexeddb/auto";

import { PortalError } from "@relicario/shared/errors";

import { list } from "../acts/list.ts";
import { purge } from "../acts/purge.ts";
import { trash } from "../acts/favorite-and-trash.ts";
import {
  beginUpload,
  discardUpload,
  finishUpload,
  uploads,
  type Protection,
  type UploadOrder,
} from "../acts/resumable-uploads.ts";
import { unlock } from "../acts/unlock.ts";
import { update } from "../acts/update.ts";
import { acceptOlderState } from "../steps/read-keyring.ts";
import { fakePartBytes } from "../testing/fake-uploads.ts";
import {
  fileSecret,
  protectOrder,
  randomFile,
  tabWithFirst,
  uploadingTab,
  type UploadingTab,
} from "../testing/uploading.ts";
import { createWorld, shown, type World } from "../testing/world.ts";
import type { VaultContext } from "../vault-context.ts";

const { file } = randomFile(2 * fakePartBytes + 77);
let world: World;
let laptop: VaultContext;
let tab: UploadingTab;
let first: string;
let uploadId: string;

beforeEach(async () => {
  world = createWorld();
  ({ tab, laptop, first } = await tabWithFirst(world));
  uploadId = await sent(protectOrder(fileSecret("Film", file)));
});

const newVersion = (): UploadOrder => ({
  act: "update",
  secretId: first,
  change: { baseVersion: 1, content: { contentKind: "file", name: "film.mp4", mime: "video/mp4" } },
  size: file.size,
  handle: null,
});
const finish = (id = uploadId, on = tab): Promise<unknown> => finishUpload(on.vault, on, id, null, {});
const isPut = (call: string): boolean => call.startsWith("PUT /v2/");
const isKept = async (id = uploadId): Promise<boolean> => (await tab.records.get(id)) !== null;
const titles = async (): Promise<(string | undefined)[]> =>
  (await list(laptop)).map(({ label }) => label?.title).sort();
const versionsOf = (secretId: string): number | undefined => world.service.account.rows.get(secretId)?.versions.length;

/** Begins and sends; publishing is left. */
async function sent(order: UploadOrder): Promise<string> {
  const id = await beginUpload(laptop, tab, order, {});
  await tab.send(id, file);
  return id;
}

function honest(): void {
  world.service.before = () => undefined;
  world.service.answer = (_call, answer) => answer;
}

/** What every question about the upload is answered with, while nothing is published. */
function sayPublished(): void {
  world.service.before = (call) => {
    if (isPut(call)) throw new PortalError("conflict");
  };
  world.service.answer = (call, answer) =>
    call.startsWith("GET /v2/") ? { ...(answer as object), published: { version: 1, state_rev: 2 } } : answer;
}

/**
 * The finishing calls arrive, or do not, and no answer to anything comes back after them: the tab
 * is closed then.
 */
async function finishUnheard(
  id: string,
  arrives: "arrives" | "never_arrives",
  protection: Protection | null = null,
): Promise<void> {
  let silent = false;
  const refuse = (): void => {
    throw new PortalError("service_unavailable");
  };
  world.service.before = (call) => {
    if (silent) refuse();
    if (!isPut(call)) return;
    silent = true;
    if (arrives === "never_arrives") refuse();
  };
  world.service.answer = (call, answer) => (isPut(call) ? refuse() : answer);
  await expect(finishUpload(laptop, tab, id, protection, {})).rejects.toMatchObject({ code: "service_unavailable" });
  honest();
  laptop = await world.open();
  tab = await uploadingTab(world, laptop);
}

describe("a service that wants the only key of a content to go", () => {
  it("says that it is published, and shows nothing: the upload stays, and is published when it lets it be", async () => {
    sayPublished();
    await expect(finish()).rejects.toMatchObject({ code: "publication_not_seen" });
    expect([await isKept(), await titles()]).toEqual([true, ["First"]]);
    honest();
    await finish();
    expect([await isKept(), await titles()]).toEqual([false, ["Film", "First"]]);
  });

  it("says so to a locked device: it waits for unlocking", async () => {
    laptop.keys = null;
    sayPublished();
    await expect(finish()).rejects.toMatchObject({ code: "vault_locked" });
    expect(await isKept()).toBe(true);
    honest();
    (await unlock(laptop, shown("market"), {})).opener.forget();
    await finish();
    expect(await isKept()).toBe(false);
  });

  it("answers the finishing call as if it were done, and takes it back: the upload stays, and goes out once more as it was", async () => {
    const before = world.service.snapshot();
    world.service.answer = (call, answer) => {
      if (isPut(call)) world.service.account = structuredClone(before);
      return answer;
    };
    await expect(finish()).rejects.toMatchObject({ code: "older_state" });
    expect(await isKept()).toBe(true);
    honest();
    const { alarmed } = laptop;
    if (alarmed === null) throw new TypeError("an alarm");
    await acceptOlderState(laptop, alarmed);
    expect(await titles()).toEqual(["First"]);
    await finish();
    expect([await isKept(), await titles()]).toEqual([false, ["Film", "First"]]);
  });

  it("says that it never heard of an upload half sent: the record stays, and it goes on when it does", async () => {
    const half = await beginUpload(laptop, tab, protectOrder(fileSecret("Half", file)), {});
    const kept = world.service.account.uploads;
    world.service.account.uploads = new Map();
    await expect(tab.send(half, file)).rejects.toMatchObject({ code: "upload_dropped" });
    expect(await isKept(half)).toBe(true);
    if (kept !== undefined) world.service.account.uploads = kept;
    await tab.send(half, file);
    await finish(half);
    expect(await titles()).toEqual(["First", "Half"]);
  });

  it("says that it never heard of an upload whose finishing call it swallowed: the record stays", async () => {
    await finishUnheard(uploadId, "never_arrives");
    world.service.account.uploads?.clear();
    await expect(finish()).rejects.toMatchObject({ code: "upload_dropped" });
    expect(await isKept()).toBe(true);
  });

  it("forgets an upload that it published: the account shows it, and the record goes", async () => {
    await finishUnheard(uploadId, "arrives");
    world.service.account.uploads?.clear();
    await expect(finish()).resolves.toMatchObject({ version: 1 });
    expect([await isKept(), await titles()]).toEqual([false, ["Film", "First"]]);
  });
});

describe("a lost answer", () => {
  it("is made good by what the account shows, without a second finishing call", async () => {
    await finishUnheard(uploadId, "arrives");
    world.service.calls.length = 0;
    await finish();
    expect([await isKept(), world.service.calls.filter(isPut)]).toEqual([false, []]);
  });

  it("does not make the device sign twice: the same bytes go out again, by a tab that is opened later too", async () => {
    const bodies: string[] = [];
    const { http } = world.service;
    const request = http.request.bind(http);
    Object.assign(http, {
      request: (...given: Parameters<typeof http.request>) => {
        if (isPut(`${given[0]} ${given[1]}`)) bodies.push(JSON.stringify(given[3]?.body));
        return request(...given);
      },
    });
    await finishUnheard(uploadId, "never_arrives");
    await finish();
    expect(bodies.length).toBeGreaterThan(1);
    expect(new Set(bodies).size).toBe(1);
    expect(await titles()).toEqual(["Film", "First"]);
  });

  it.each<[string, (secretId: string) => Promise<unknown>]>([
    [
      "made a further version of it",
      (secretId) =>
        byPhone((phone) =>
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
        byPhone((phone) => update(phone, secretId, { baseVersion: versionsOf(secretId) ?? 0, title: "Another" }, {})),
    ],
    [
      "removed it for good",
      (secretId) =>
        byPhone(async (phone) => {
          await trash(phone, secretId);
          await purge(phone, [secretId], {});
        }),
    ],
  ])("is seen although another device %s since, and nothing comes back", async (_what, act) => {
    for (const [id, version] of [
      [uploadId, 1],
      [await sent(newVersion()), 2],
    ] as const) {
      const secretId = (await tab.records.get(id))?.secretId ?? "";
      await finishUnheard(id, "arrives");
      await act(secretId);
      const after = versionsOf(secretId);
      await expect(finish(id)).resolves.toEqual({ secretId, version });
      expect([await isKept(id), versionsOf(secretId)]).toEqual([false, after]);
    }
  });

  it.each(["arrives", "never_arrives"] as const)(
    "to the very first secret, whose call %s, makes one account, and keeps the upload till it is seen",
    async (whether) => {
      world = createWorld();
      laptop = await world.open();
      tab = await uploadingTab(world, laptop);
      const id = await sent(protectOrder(fileSecret("Film", file, shown("market"))));
      await finishUnheard(id, whether, fileSecret("Film", file, shown("market")).protection);
      // it went out once more; after a reload its picture shows it
      await expect(finish(id)).rejects.toMatchObject({ code: "vault_locked" });
      expect(await isKept(id)).toBe(true);
      (await unlock(laptop, shown("market"), {})).opener.forget();
      await finish(id);
      expect([await isKept(id), await titles(), world.service.account.keyring?.states.length]).toEqual([
        false,
        ["Film"],
        1,
      ]);
    },
  );

  it("does not take another device's version for ours", async () => {
    const id = await sent(newVersion());
    await finishUnheard(id, "never_arrives");
    await byPhone((phone) =>
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
    expect(await isKept(id)).toBe(true);
  });
});

describe("two tabs", () => {
  it("that finish at the same time publish once, and both say so", async () => {
    const other = await uploadingTab(world, await world.open());
    const answers = await Promise.all([finish(), finish(uploadId, other)]);
    expect(answers[0]).toEqual(answers[1]);
    expect([await isKept(), await titles()]).toEqual([false, ["Film", "First"]]);
  });

  it("of which one gives it up: nothing of it is published by the other", async () => {
    world.service.before = async (call) => {
      if (call === "GET /secrets/store") await discardUpload(tab, uploadId);
    };
    await expect(finish()).rejects.toMatchObject({ code: "not_found" });
    honest();
    expect([await titles(), await uploads(laptop, tab)]).toEqual([["First"], []]);
  });
});

async function byPhone(act: (phone: VaultContext) => Promise<unknown>): Promise<void> {
  const phone = await world.open("phone");
  (await unlock(phone, shown("market"), {})).opener.forget();
  await act(phone);
}
