import "fake-indexeddb/auto";

import { maxSmallContentBytes, parseRecord } from "@relicario/shared/api";
import type { ImportItem } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { createChannelWorkers, unrefMessagePorts } from "../testing/channel-workers.ts";
import { buildArchive } from "../testing/own-archive.ts";
import { createFakeService } from "../testing/fake-service.ts";
import { createFakeMachine } from "../testing/fake-machine.ts";
import { makePictureHandle, userId } from "../testing/world.ts";
import { createVaultClient, type VaultClient } from "./vault-client.ts";

unrefMessagePorts();

const longText = (letter: string): string => letter.repeat(maxSmallContentBytes + 1);
const makeItem = (title: string, text: string): ImportItem => ({
  title,
  tags: ["Work"],
  contentKind: "text",
  name: `${title}.txt`,
  mime: "text/plain",
  content: new Blob([text]),
  kind: "text",
  sourceId: `text_files:${title}`,
  canonicalContent: null,
  adjustments: [],
});
const namedMarket = { name: "The market" };
const listTitles = async (vault: VaultClient): Promise<(string | undefined)[]> =>
  (await vault.list()).map(({ label }) => label?.title).sort();

/** Opens a tab of a person without an account. */
function openTab() {
  const workers = createChannelWorkers();
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
      signInToUnlock: () => Promise.resolve({ authTime: 0 }),
      signInSilently: () => Promise.reject(new PortalError("login_required")),
      confirmMark: () => Promise.resolve(true),
      takeLinkSecret: () => Promise.resolve(null),
    },
    workers,
    { environment: machine.openTab() },
  );
  return { vault, service, workers };
}

describe("importing through the workers", () => {
  it("passes the person's answers to the worker", async () => {
    const { vault } = openTab();
    const file = Object.assign(new File(["Where;What\nhttps://a.example;pw\n"], "table.csv"), {
      webkitRelativePath: "",
    });
    expect(await vault.imports.read([file], { language: "en" })).toMatchObject({ status: "columns_needed" });
    const read = await vault.imports.read([file], { language: "en", columns: ["url", "password"] });
    if (read.status !== "read") throw new Error(read.status);
    expect(parseRecord((await read.items[0]?.content.text()) ?? "")).toEqual([
      { label: "Password", value: "pw", kind: "secret" },
      { label: "Website", value: "https://a.example", kind: "address" },
    ]);
    await vault.signOut();
  });

  it("reads a file in a worker that then ends, and stores its items once", async () => {
    const { vault, workers } = openTab();
    const file = Object.assign(
      new File(["name,url,username,password,note\nMail,https://a.example,ana,pw,\n"], "google.csv"),
      { webkitRelativePath: "" },
    );
    const readResult = await vault.imports.read([file], { language: "en" });
    if (readResult.status !== "read") throw new Error(readResult.status);
    expect(workers.endedWorkers).toEqual(["import"]);
    expect(await vault.imports.compare(readResult.items)).toEqual([{ status: "new" }]);
    expect(await vault.imports.store(readResult.items, makePictureHandle("market"), namedMarket)).toEqual({
      added: 1,
      updated: 0,
      unchanged: 0,
      failures: [],
      stopReason: null,
    });
    expect((await vault.imports.compare(readResult.items)).map(({ status }) => status)).toEqual(["same"]);
    expect(await listTitles(vault)).toEqual(["Mail"]);
    await vault.signOut();
  });

  it("creates an account from large items only, and then recognises these items", async () => {
    const { vault } = openTab();
    const items: ImportItem[] = [
      makeItem("Diary", longText("d")),
      { ...makeItem("Novel", longText("n")), favorite: true },
    ];
    expect(await vault.imports.store(items, makePictureHandle("market"), namedMarket)).toEqual({
      added: 2,
      updated: 0,
      unchanged: 0,
      failures: [],
      stopReason: null,
    });
    expect(await listTitles(vault)).toEqual(["Diary", "Novel"]);
    expect((await vault.list()).filter(({ favorite }) => favorite).map(({ label }) => label?.title)).toEqual(["Novel"]);
    expect((await vault.imports.compare(items)).map(({ status }) => status)).toEqual(["same", "same"]);
    expect(await vault.imports.store(items, makePictureHandle("market"))).toMatchObject({ added: 0, unchanged: 2 });
    await vault.signOut();
  });

  it("opens a large content of the portal's own archive only when storing it, in a short-lived worker", async () => {
    const { vault, workers } = openTab();
    const plain = new TextEncoder().encode(longText("d"));
    const { zip, identity } = await buildArchive([{ title: "Diary", contentKind: "text", plaintext: plain }]);
    const file = Object.assign(new File([zip], "secrets-export.zip"), { webkitRelativePath: "" });
    const readResult = await vault.imports.read([file], { language: "en", exitIdentity: identity });
    if (readResult.status !== "read") throw new Error(readResult.status);
    // 16, because a short run of one letter can occur in ciphertext by chance
    expect(await readResult.items[0]?.content.text()).not.toContain("d".repeat(16));
    expect(await vault.imports.store(readResult.items, makePictureHandle("market"), namedMarket)).toEqual({
      added: 1,
      updated: 0,
      unchanged: 0,
      failures: [],
      stopReason: null,
    });
    expect(workers.endedWorkers.filter((name) => name === "import")).toHaveLength(2);
    expect((await vault.imports.compare(readResult.items)).map(({ status }) => status)).toEqual(["same"]);
    const [row] = await vault.list();
    expect(row?.label).toMatchObject({ title: "Diary", contentKind: "text", name: "Diary.bin", size: plain.length });
    const recovered = await vault.openSecret(row?.secretId ?? "", makePictureHandle("market"), {});
    expect(await (await recovered.save()).text()).toBe(longText("d"));
    await vault.signOut();
  });

  it("stores nothing of a content that was damaged after its archive was read", async () => {
    const { vault } = openTab();
    const { zip, identity } = await buildArchive([
      { title: "Diary", contentKind: "file", plaintext: new TextEncoder().encode(longText("d")) },
    ]);
    const readResult = await vault.imports.read([Object.assign(new File([zip], "x.zip"), { webkitRelativePath: "" })], {
      language: "en",
      exitIdentity: identity,
    });
    const [item] = readResult.status === "read" ? readResult.items : [];
    if (item === undefined) throw new Error("expected an item");
    const bytes = new Uint8Array(await item.content.arrayBuffer());
    bytes.subarray(-1_000).fill(0);
    await expect(
      vault.imports.store([{ ...item, content: new Blob([bytes]) }], makePictureHandle("market"), namedMarket),
    ).rejects.toMatchObject({ code: "decryption_failed" });
    expect(await listTitles(vault)).toEqual([]);
    await vault.signOut();
  });

  it("stores a changed large item as a new version, and then recognises this item", async () => {
    const { vault } = openTab();
    await vault.imports.store(
      [makeItem("Diary", longText("d")), makeItem("Short", "s")],
      makePictureHandle("market"),
      namedMarket,
    );
    const changedItems = [makeItem("Diary", longText("e"))];
    expect((await vault.imports.compare(changedItems)).map(({ status }) => status)).toEqual(["changed"]);
    expect(await vault.imports.store(changedItems, makePictureHandle("market"))).toEqual({
      added: 0,
      updated: 1,
      unchanged: 0,
      failures: [],
      stopReason: null,
    });
    const rows = await vault.list();
    expect(rows).toHaveLength(2);
    expect(rows.find(({ label }) => label?.title === "Diary")).toMatchObject({ version: 2 });
    expect((await vault.imports.compare(changedItems)).map(({ status }) => status)).toEqual(["same"]);
    await vault.signOut();
  });

  it("reports what was stored, what failed and why when large items stop half-way", async () => {
    const { vault, service } = openTab();
    const items = [makeItem("Short", "s"), makeItem("x".repeat(300), "long title"), makeItem("Diary", longText("d"))];
    service.beforeCall = (call) => {
      if (call === "POST /v2/secrets/secret") throw new PortalError("quota_exceeded");
    };
    expect(await vault.imports.store(items, makePictureHandle("market"), namedMarket)).toEqual({
      added: 1,
      updated: 0,
      unchanged: 0,
      failures: [{ index: 1, code: "validation_error" }],
      stopReason: "quota_exceeded",
    });
    expect(await listTitles(vault)).toEqual(["Short"]);
    await vault.signOut();
  });

  it("reports failures when a large item stops the import before anything is stored", async () => {
    const { vault, service } = openTab();
    await vault.imports.store([makeItem("Short", "s")], makePictureHandle("market"), namedMarket);
    service.beforeCall = (call) => {
      if (call === "POST /v2/secrets/secret") throw new PortalError("quota_exceeded");
    };
    const items = [makeItem("x".repeat(300), "long title"), makeItem("Diary", longText("d"))];
    expect(await vault.imports.store(items, makePictureHandle("market"))).toEqual({
      added: 0,
      updated: 0,
      unchanged: 0,
      failures: [{ index: 0, code: "validation_error" }],
      stopReason: "quota_exceeded",
    });
    await vault.signOut();
  });
});
