import "fake-indexeddb/auto";

import type { ImportItem } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { list } from "../operations/list.ts";
import { protect } from "../operations/protect.ts";
import { openSmallSecret } from "../operations/open-secret.ts";
import { moveToTrash } from "../operations/favorite-and-trash.ts";
import { update } from "../operations/update.ts";
import { createWorld, makePicture, textSecret, type World } from "../testing/world.ts";
import { compareImport } from "./compare-import.ts";
import { importSecrets } from "./import-secrets.ts";

const makeItem = (title: string, overrides: Partial<ImportItem> & { readonly text?: string } = {}): ImportItem => ({
  title,
  tags: ["Work"],
  contentKind: "text",
  name: "secret.txt",
  mime: "text/plain",
  content: new Blob([overrides.text ?? `content of ${title}`]),
  kind: "login",
  sourceId: `bitwarden:${title}`,
  canonicalContent: null,
  adjustments: [],
  ...overrides,
});
const makeItems = (count: number): ImportItem[] =>
  Array.from({ length: count }, (_, at) => makeItem(`Item ${String(at)}`));
const countBatches = (world: World): number =>
  world.service.calls.filter((call) => call === "POST /secrets/store/batch").length;
const market = makePicture("market");

/** Opens a device of a person who has one secret. */
const openWithFirstSecret = async () => {
  const world = createWorld();
  const vault = await world.open();
  await protect(vault, textSecret("First", market), {});
  return { world, vault };
};

describe("importing secrets", () => {
  it("stores items as secrets, a hundred per call, that the presented picture opens", async () => {
    const { world, vault } = await openWithFirstSecret();
    const progress: string[] = [];
    const stored = await importSecrets(vault, makeItems(130), market, {
      onProgress: ({ phase, done, total }) => {
        if (phase === "sending") progress.push(`${String(done)}/${String(total)}`);
      },
    });
    expect(stored).toEqual({ added: 130, updated: 0, unchanged: 0, failures: [], stopReason: null });
    expect(countBatches(world)).toBe(2);
    expect(progress).toEqual(["0/130", "100/130", "130/130"]);
    const rows = await list(vault);
    expect(rows).toHaveLength(131);
    const last = rows.find(({ label }) => label?.title === "Item 129");
    expect(last?.label).toMatchObject({ tags: ["Work"], contentKind: "text", name: "secret.txt" });
    expect(new TextDecoder().decode((await openSmallSecret(vault, last?.secretId ?? "", market, {})).content)).toBe(
      "content of Item 129",
    );
  });

  it("creates an account with the first batch", async () => {
    const world = createWorld();
    const vault = await world.open();
    expect(await importSecrets(vault, makeItems(3), market, { name: "The market" })).toMatchObject({ added: 3 });
    expect(await importSecrets(vault, makeItems(4), market, {})).toMatchObject({ added: 1, unchanged: 3 });
    expect(await list(vault)).toHaveLength(4);
  });

  it("adds nothing twice, even from another device", async () => {
    const { world, vault } = await openWithFirstSecret();
    await importSecrets(vault, makeItems(3), market);
    const phone = await world.open("phone");
    expect(await importSecrets(phone, makeItems(3), market)).toEqual({
      added: 0,
      updated: 0,
      unchanged: 3,
      failures: [],
      stopReason: null,
    });
    expect(await list(phone)).toHaveLength(4);
  });

  it("stores a changed item as a new version, with its title and tags, and then recognises the item", async () => {
    const { vault } = await openWithFirstSecret();
    await importSecrets(vault, makeItems(2), market);
    const changed = makeItem("Renamed", { sourceId: "bitwarden:Item 1", text: "another password", tags: [] });
    expect(
      (await compareImport(vault, [makeItem("Item 0"), changed, makeItem("Item 9")])).map(({ status }) => status),
    ).toEqual(["same", "changed", "new"]);
    expect(await importSecrets(vault, [changed], market)).toMatchObject({ added: 0, updated: 1 });
    const row = (await list(vault)).find(({ label }) => label?.title === "Renamed");
    expect(row).toMatchObject({ version: 2, label: { tags: [] } });
    expect(new TextDecoder().decode((await openSmallSecret(vault, row?.secretId ?? "", market, {})).content)).toBe(
      "another password",
    );
    expect(await importSecrets(vault, [changed], market)).toMatchObject({ unchanged: 1, updated: 0 });
  });

  it("recognises an item in another language, even with a mark that an earlier release made in that language", async () => {
    const { vault } = await openWithFirstSecret();
    const titles = ["Mail (One-time password)", "Mail (Contraseña de un solo uso)"] as const;
    const [english, spanish] = titles.map((title) => makeItem(title, { sourceId: "bitwarden:b1 otp 0", text: "seed" }));
    if (english === undefined || spanish === undefined) throw new Error("expected two imported secrets");
    await importSecrets(vault, [spanish], market); // the item has no other titles
    expect(
      (await compareImport(vault, [{ ...english, canonicalTitles: titles }, english])).map(({ status }) => status),
    ).toEqual(["same", "changed"]);
    await importSecrets(
      vault,
      [makeItem("Untitled", { sourceId: "b2", canonicalTitles: ["Untitled", "Sin título"] })],
      market,
    );
    expect(
      await importSecrets(
        vault,
        [
          makeItem("Sin título", {
            sourceId: "b2",
            text: "content of Untitled",
            canonicalTitles: ["Untitled", "Sin título"],
          }),
        ],
        market,
      ),
    ).toMatchObject({ unchanged: 1, updated: 0 });
  });

  it("recognises an item after its secret was edited here", async () => {
    const { vault } = await openWithFirstSecret();
    await importSecrets(vault, makeItems(1), market);
    const row = (await list(vault)).find(({ label }) => label?.title === "Item 0");
    await update(
      vault,
      row?.secretId ?? "",
      {
        baseVersion: 1,
        title: "My own name",
        content: { contentKind: "text", name: "secret.txt", mime: "text/plain", content: new Blob(["mine"]) },
      },
      {},
    );
    expect(await importSecrets(vault, makeItems(1), market)).toMatchObject({ added: 0, updated: 0, unchanged: 1 });
  });

  it("ignores secrets in the trash", async () => {
    const { vault } = await openWithFirstSecret();
    await importSecrets(vault, makeItems(1), market);
    const row = (await list(vault)).find(({ label }) => label?.title === "Item 0");
    await moveToTrash(vault, row?.secretId ?? "");
    expect((await compareImport(vault, makeItems(1)))[0]?.status).toBe("new");
  });

  it("adds no secrets of this account's own archive while the account has them", async () => {
    const { vault } = await openWithFirstSecret();
    const [row] = await list(vault);
    expect(
      (await compareImport(vault, [makeItem("First", { sourceId: `relicario:${row?.secretId ?? ""}` })]))[0]?.status,
    ).toBe("same");
  });

  it("continues where a lost connection stopped", async () => {
    const { world, vault } = await openWithFirstSecret();
    let calls = 0;
    world.service.beforeCall = (call) => {
      if (call === "POST /secrets/store/batch" && ++calls > 1) throw new PortalError("offline");
    };
    expect(await importSecrets(vault, [makeItem("x".repeat(300)), ...makeItems(150)], market)).toEqual({
      added: 100,
      updated: 0,
      unchanged: 0,
      failures: [{ index: 0, code: "validation_error" }],
      stopReason: "offline",
    });
    world.service.beforeCall = () => undefined;
    expect(await importSecrets(await world.open("phone"), makeItems(150), market)).toMatchObject({
      added: 50,
      unchanged: 100,
    });
  });

  it("adds nothing twice when a response was lost", async () => {
    const { world, vault } = await openWithFirstSecret();
    let lost = 0;
    world.service.transformResponse = (call, answer) => {
      if (call === "POST /secrets/store/batch" && lost++ < 1) throw new PortalError("offline");
      return answer;
    };
    await importSecrets(vault, makeItems(3), market);
    expect(await list(vault)).toHaveLength(4);
  });

  it("stops when cancelled, and keeps what was stored", async () => {
    const { vault } = await openWithFirstSecret();
    const controller = new AbortController();
    const running = importSecrets(vault, makeItems(150), market, {
      signal: controller.signal,
      onProgress: ({ done }) => {
        if (done === 100) controller.abort();
      },
    });
    expect(await running).toMatchObject({ added: 100, stopReason: "cancelled" });
    expect(await list(vault)).toHaveLength(101);
  });

  it("continues when another device wrote in between", async () => {
    const { world, vault } = await openWithFirstSecret();
    const phone = await world.open("phone");
    await importSecrets(phone, [makeItem("From the phone")], market);
    let isPending = true;
    world.service.beforeCall = async (call) => {
      if (call !== "POST /secrets/store/batch" || !isPending) return;
      isPending = false;
      await protect(phone, textSecret("Meanwhile"), {});
    };
    await importSecrets(vault, makeItems(2), market);
    expect((await list(vault)).map(({ label }) => label?.title).sort()).toEqual([
      "First",
      "From the phone",
      "Item 0",
      "Item 1",
      "Meanwhile",
    ]);
  });

  it("names items that cannot be stored, and stores the others", async () => {
    const { vault } = await openWithFirstSecret();
    const stored = await importSecrets(vault, [makeItem("x".repeat(300)), makeItem("Good")], market);
    expect(stored).toMatchObject({ added: 1, failures: [{ index: 0, code: "validation_error" }] });
  });

  it("names favourites that could not be marked, and stores the rest", async () => {
    const { world, vault } = await openWithFirstSecret();
    let calls = 0;
    world.service.beforeCall = (call) => {
      if (call === "PATCH /secrets/favorite" && ++calls === 1) throw new PortalError("service_unavailable");
    };
    const items = [makeItem("Plain"), makeItem("One", { favorite: true }), makeItem("Two", { favorite: true })];
    expect(await importSecrets(vault, items, market)).toEqual({
      added: 3,
      updated: 0,
      unchanged: 0,
      failures: [],
      failedFavoriteIndexes: [1],
      stopReason: null,
    });
    expect((await list(vault)).filter(({ favorite }) => favorite).map(({ label }) => label?.title)).toEqual(["Two"]);
  });

  it("reports failures when it stops before anything is stored", async () => {
    const { world, vault } = await openWithFirstSecret();
    world.service.beforeCall = (call) => {
      if (call === "POST /secrets/store/batch") throw new PortalError("quota_exceeded");
    };
    expect(await importSecrets(vault, [makeItem("x".repeat(300)), makeItem("Good")], market)).toEqual({
      added: 0,
      updated: 0,
      unchanged: 0,
      failures: [{ index: 0, code: "validation_error" }],
      stopReason: "quota_exceeded",
    });
    await expect(importSecrets(vault, [makeItem("Good")], market)).rejects.toMatchObject({ code: "quota_exceeded" });
  });

  it("stores nothing with another picture", async () => {
    const { world, vault } = await openWithFirstSecret();
    await expect(importSecrets(vault, makeItems(2), makePicture("forest"))).rejects.toMatchObject({
      code: "not_this_picture",
    });
    expect(countBatches(world)).toBe(0);
  });

  it("sends no content, title, tag, origin or digest of these in clear", async () => {
    const { world, vault } = await openWithFirstSecret();
    const sentinel = "zebra-crossing-quartz";
    await importSecrets(
      vault,
      [makeItem(sentinel, { text: sentinel, tags: [sentinel], sourceId: sentinel, name: `${sentinel}.txt` })],
      market,
    );
    const sent = JSON.stringify(world.service.bodies);
    const sentAndDecoded =
      sent + sent.replace(/[A-Za-z0-9_-]{20,}/g, (b64u) => Buffer.from(b64u, "base64url").toString("latin1"));
    expect(sentAndDecoded).not.toContain(sentinel);
    expect(sentAndDecoded).not.toContain(Buffer.from(sentinel).toString("base64url").slice(0, 20));
  });
});
