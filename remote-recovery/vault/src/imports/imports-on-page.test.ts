import "fake-indexeddb/auto";

import { maxSmallContentBytes } from "@relicario/shared/api";
import type { ImportItem } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { channelWorkers, leavePortsUnwaited } from "../testing/channel-workers.ts";
import { archiveOf } from "../testing/own-archive.ts";
import { createFakeService } from "../testing/fake-service.ts";
import { createFakeMachine } from "../testing/surroundings.ts";
import { shownHandle, userId } from "../testing/world.ts";
import { createVaultClient, type VaultClient } from "../worker/vault-client.ts";

leavePortsUnwaited();

const longText = (letter: string): string => letter.repeat(maxSmallContentBytes + 1);
const item = (title: string, text: string): ImportItem => ({
  title,
  tags: ["Work"],
  contentKind: "text",
  name: `${title}.txt`,
  mime: "text/plain",
  content: new Blob([text]),
  kind: "text",
  origin: `text_files:${title}`,
  holds: null,
  changed: [],
});
const namedMarket = { name: "The market" };
const titles = async (vault: VaultClient): Promise<(string | undefined)[]> =>
  (await vault.list()).map(({ label }) => label?.title).sort();

/** A tab of an account where nothing was ever kept. */
function tab() {
  const workers = channelWorkers();
  const account = { userId, issuer: "https://id.example", subject: crypto.randomUUID() };
  const service = createFakeService(userId);
  const machine = createFakeMachine();
  machine.now = Date.now();
  const vault = createVaultClient(
    {
      http: service.http,
      vendorId: "relicario",
      account,
      signInAgain: () => Promise.resolve({ authTime: 0 }),
      takeLinkSecret: () => Promise.resolve(null),
    },
    workers,
    { surroundings: machine.tab() },
  );
  return { vault, service, workers };
}

describe("importing over the workers", () => {
  it("reads a file in a worker that ends after it, and stores what it holds once", async () => {
    const { vault, workers } = tab();
    const file = Object.assign(
      new File(["name,url,username,password,note\nMail,https://a.example,ana,pw,\n"], "google.csv"),
      { webkitRelativePath: "" },
    );
    const read = await vault.imports.read([file], { language: "en" });
    if (read.status !== "read") throw new Error(read.reason);
    expect(workers.ended).toEqual(["import"]);
    expect(await vault.imports.compare(read.items)).toEqual([{ standing: "new" }]);
    expect(await vault.imports.store(read.items, shownHandle("market"), namedMarket)).toEqual({
      added: 1,
      updated: 0,
      same: 0,
      failed: [],
      stopped: null,
    });
    expect((await vault.imports.compare(read.items)).map(({ standing }) => standing)).toEqual(["same"]);
    expect(await titles(vault)).toEqual(["Mail"]);
    await vault.signOut();
  });

  it("begins an account with large items alone, and knows them again", async () => {
    const { vault } = tab();
    const items: ImportItem[] = [item("Diary", longText("d")), { ...item("Novel", longText("n")), favorite: true }];
    expect(await vault.imports.store(items, shownHandle("market"), namedMarket)).toEqual({
      added: 2,
      updated: 0,
      same: 0,
      failed: [],
      stopped: null,
    });
    expect(await titles(vault)).toEqual(["Diary", "Novel"]);
    expect((await vault.list()).filter(({ favorite }) => favorite).map(({ label }) => label?.title)).toEqual(["Novel"]);
    expect((await vault.imports.compare(items)).map(({ standing }) => standing)).toEqual(["same", "same"]);
    expect(await vault.imports.store(items, shownHandle("market"))).toMatchObject({ added: 0, same: 2 });
    await vault.signOut();
  });

  it("opens a large content of an archive of this portal when it is stored, in a worker that puts it away and ends", async () => {
    const { vault, workers } = tab();
    const plain = new TextEncoder().encode(longText("d"));
    const { zip, identity } = await archiveOf([{ title: "Diary", contentKind: "text", plain }]);
    const file = Object.assign(new File([zip], "secrets-export.zip"), { webkitRelativePath: "" });
    const read = await vault.imports.read([file], { language: "en", exitIdentity: identity });
    if (read.status !== "read") throw new Error(read.reason);
    // three in a row stand in many a ciphertext
    expect(await read.items[0]?.content.text()).not.toContain("d".repeat(16));
    expect(await vault.imports.store(read.items, shownHandle("market"), namedMarket)).toEqual({
      added: 1,
      updated: 0,
      same: 0,
      failed: [],
      stopped: null,
    });
    expect(workers.ended.filter((name) => name === "import")).toHaveLength(2);
    expect((await vault.imports.compare(read.items)).map(({ standing }) => standing)).toEqual(["same"]);
    const [row] = await vault.list();
    expect(row?.label).toMatchObject({ title: "Diary", contentKind: "text", name: "Diary.bin", size: plain.length });
    const recovered = await vault.recover(row?.secretId ?? "", shownHandle("market"), {});
    expect(await (await recovered.save(null))?.text()).toBe(longText("d"));
    await vault.signOut();
  });

  it("stores nothing of a content whose archive was written to after it was read", async () => {
    const { vault } = tab();
    const { zip, identity } = await archiveOf([
      { title: "Diary", contentKind: "file", plain: new TextEncoder().encode(longText("d")) },
    ]);
    const read = await vault.imports.read([Object.assign(new File([zip], "x.zip"), { webkitRelativePath: "" })], {
      language: "en",
      exitIdentity: identity,
    });
    const [item] = read.status === "read" ? read.items : [];
    if (item === undefined) throw new Error("it is read");
    const bytes = new Uint8Array(await item.content.arrayBuffer());
    bytes.subarray(-1_000).fill(0);
    await expect(
      vault.imports.store([{ ...item, content: new Blob([bytes]) }], shownHandle("market"), namedMarket),
    ).rejects.toMatchObject({ code: "decryption_failed" });
    expect(await titles(vault)).toEqual([]);
    await vault.signOut();
  });

  it("makes a large item that differs a new version, and then knows it", async () => {
    const { vault } = tab();
    await vault.imports.store([item("Diary", longText("d")), item("Short", "s")], shownHandle("market"), namedMarket);
    const changed = [item("Diary", longText("e"))];
    expect((await vault.imports.compare(changed)).map(({ standing }) => standing)).toEqual(["changed"]);
    expect(await vault.imports.store(changed, shownHandle("market"))).toEqual({
      added: 0,
      updated: 1,
      same: 0,
      failed: [],
      stopped: null,
    });
    const rows = await vault.list();
    expect(rows).toHaveLength(2);
    expect(rows.find(({ label }) => label?.title === "Diary")).toMatchObject({ version: 2 });
    expect((await vault.imports.compare(changed)).map(({ standing }) => standing)).toEqual(["same"]);
    await vault.signOut();
  });

  it("says what was stored, what failed and why, when large items stop half-way", async () => {
    const { vault, service } = tab();
    const items = [item("Short", "s"), item("x".repeat(300), "long title"), item("Diary", longText("d"))];
    service.before = (call) => {
      if (call === "POST /v2/secrets/secret") throw new PortalError("quota_exceeded");
    };
    expect(await vault.imports.store(items, shownHandle("market"), namedMarket)).toEqual({
      added: 1,
      updated: 0,
      same: 0,
      failed: [{ index: 1, code: "validation_error" }],
      stopped: "quota_exceeded",
    });
    expect(await titles(vault)).toEqual(["Short"]);
    await vault.signOut();
  });

  it("keeps what failed when a large item stops it before anything is stored", async () => {
    const { vault, service } = tab();
    await vault.imports.store([item("Short", "s")], shownHandle("market"), namedMarket);
    service.before = (call) => {
      if (call === "POST /v2/secrets/secret") throw new PortalError("quota_exceeded");
    };
    const items = [item("x".repeat(300), "long title"), item("Diary", longText("d"))];
    expect(await vault.imports.store(items, shownHandle("market"))).toEqual({
      added: 0,
      updated: 0,
      same: 0,
      failed: [{ index: 0, code: "validation_error" }],
      stopped: "quota_exceeded",
    });
    await vault.signOut();
  });
});
