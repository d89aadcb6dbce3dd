import "fake-indexeddb/auto";

import { maxInlineKitContentBytes } from "@relicario/shared/api";
import { bytesToHex } from "@noble/hashes/utils.js";

import { parseKitFile } from "../kit/kit-file.ts";
import {
  openDetachedContent,
  openEmbeddedContent,
  openKit,
  requiresPassphrase,
  type OpenedKit,
} from "../kit/open-kit.ts";
import type { Kit } from "../kit/kit-document.ts";
import { concatBytes, sha256Async, type Bytes } from "../seal/bytes.ts";
import { kitFile } from "../testing/kit-files.ts";
import { fileSecret, makeProtectOrder, randomFile, openTabWithFirstSecret } from "../testing/uploading-tab.ts";
import { createWorld, makePicture, textSecret, type World } from "../testing/world.ts";
import { listImages } from "./examine.ts";
import { list } from "./list.ts";
import { createKit, type KitDeps } from "./create-kit.ts";
import { protect } from "./protect.ts";
import { rotate } from "./rotate.ts";
import { beginUpload, finishUpload } from "./resumable-uploads.ts";
import { update } from "./update.ts";

const errorWithCode = (expected: string): unknown => expect.objectContaining({ code: expected });

function createDeps(range: KitDeps["range"] = () => Promise.reject(new Error("nothing here is large"))): KitDeps {
  const sink = () => {
    const written: Bytes[] = [];
    return {
      write: async (bytes: Bytes) => void written.push(bytes),
      commit: async () => new Blob(written),
      discard: async () => undefined,
    };
  };
  return {
    range,
    retryPolicy: { wait: () => Promise.resolve() },
    file: kitFile,
    openSink: () => Promise.resolve(sink()),
  };
}

const readBytes = async (file: Blob): Promise<Bytes> => new Uint8Array(await file.arrayBuffer());

async function openKitFrom(
  world: World,
  file: Blob,
  picture = "market",
  passphrase: string | null = null,
): Promise<OpenedKit & { readonly kit: Kit }> {
  const kit = parseKitFile(await readBytes(file));
  return { kit, ...(await openKit(world.engine, kit, makePicture(picture, passphrase))) };
}

async function readTexts({ secrets }: OpenedKit): Promise<(readonly [title: string, text: string])[]> {
  return Promise.all(
    secrets.map(async (secret) => {
      if (secret === null) throw new Error("damaged");
      return [secret.ticket.title, new TextDecoder().decode(await openEmbeddedContent(secret))] as const;
    }),
  );
}

async function collectBytes(pieces: AsyncIterable<Uint8Array>): Promise<Bytes> {
  const chunks: Uint8Array[] = [];
  for await (const bytes of pieces) chunks.push(bytes);
  return concatBytes(...chunks);
}

describe("makeKit", () => {
  it("holds what the picture opens, and opens without service and account", async () => {
    const world = createWorld();
    const vault = await world.open();
    const first = await protect(vault, textSecret("First", makePicture("market")), {});
    const second = await protect(vault, textSecret("Second"), {});
    const third = await protect(
      vault,
      { ...textSecret("Third"), protection: { kind: "picture", picture: makePicture("harbour"), name: "The harbour" } },
      {},
    );
    const harbour = (await listImages(vault)).filter(({ name }) => name === "The harbour").map(({ id }) => id);
    const notMarket = await protect(
      vault,
      { ...textSecret("Fourth"), protection: { kind: "openers", openers: harbour } },
      {},
    );
    const ids = [first, second, third, notMarket].map(({ secretId }) => secretId);
    const created = await createKit(await world.open(), createDeps(), ids, makePicture("market"), {
      note: "In the drawer",
    });
    expect(created).toMatchObject({
      hasPassphrase: false,
      attachments: [],
      skipped: [notMarket.secretId],
      notVerified: [],
    });
    expect(created.sha256).toBe(bytesToHex(await sha256Async(await readBytes(created.file))));
    const kit = await openKitFrom(world, created.file, "market/small");
    expect(kit.kit.note).toBe("In the drawer");
    expect(requiresPassphrase(kit.kit)).toBe(false);
    expect(await readTexts(kit)).toEqual([
      ["First", "content of First"],
      ["Second", "content of Second"],
      ["Third", "content of Third"],
    ]);
    expect(kit.secrets.map((secret) => secret?.author)).toEqual(["verified", "verified", "verified"]);
  });

  it("names itself in every label, and is out of date after an edit, not after a renaming", async () => {
    const world = createWorld();
    const vault = await world.open();
    const { secretId } = await protect(vault, textSecret("First", makePicture("market")), {});
    const { secretId: otherId } = await protect(vault, textSecret("Second"), {});
    const created = await createKit(vault, createDeps(), [secretId, otherId], makePicture("market"));
    const readKits = async () => new Map((await list(vault)).map((row) => [row.secretId, row.label?.kits]));
    const kitRecord = { sha256: created.sha256, createdAt: created.createdAt };
    expect(await readKits()).toEqual(
      new Map([
        [secretId, [{ ...kitRecord, outdated: false }]],
        [otherId, [{ ...kitRecord, outdated: false }]],
      ]),
    );
    await update(vault, secretId, { baseVersion: 1, title: "Renamed" }, {});
    expect((await readKits()).get(secretId)).toEqual([{ ...kitRecord, outdated: false }]);
    await update(
      vault,
      secretId,
      {
        baseVersion: 1,
        content: { contentKind: "text", name: "secret.txt", mime: "text/plain", content: new Blob(["two"]) },
      },
      {},
    );
    expect(await readKits()).toEqual(
      new Map([
        [secretId, [{ ...kitRecord, outdated: true }]],
        [otherId, [{ ...kitRecord, outdated: false }]],
      ]),
    );
    const secondKit = await createKit(vault, createDeps(), [secretId], makePicture("market"));
    expect((await readKits()).get(secretId)).toEqual([
      { ...kitRecord, outdated: true },
      { sha256: secondKit.sha256, createdAt: secondKit.createdAt, outdated: false },
    ]);
    expect(await readTexts(await openKitFrom(world, secondKit.file))).toEqual([["Renamed", "two"]]);
    expect(await readTexts(await openKitFrom(world, created.file))).toEqual([
      ["First", "content of First"],
      ["Second", "content of Second"],
    ]);
  });

  it("is out of date once the secret is sealed to another picture", async () => {
    const world = createWorld();
    const vault = await world.open();
    const { secretId } = await protect(vault, textSecret("First", makePicture("market")), {});
    await createKit(vault, createDeps(), [secretId], makePicture("market"));
    const content = {
      contentKind: "text",
      name: "secret.txt",
      mime: "text/plain",
      content: new Blob(["content of First"]),
    } as const;
    await update(
      vault,
      secretId,
      {
        baseVersion: 1,
        content,
        protection: { kind: "picture", picture: makePicture("harbour"), name: "The harbour" },
      },
      {},
    );
    expect((await list(vault))[0]?.label?.kits).toMatchObject([{ outdated: true }]);
  });

  it("is out of date once the account key is another", async () => {
    const world = createWorld();
    const vault = await world.open();
    const { secretId } = await protect(vault, textSecret("First", makePicture("market")), {});
    await createKit(vault, createDeps(), [secretId], makePicture("market"));
    expect((await list(vault))[0]?.label?.kits).toMatchObject([{ outdated: false }]);
    await rotate(vault, [makePicture("market")], {});
    expect((await list(vault))[0]?.label?.kits).toMatchObject([{ outdated: true }]);
  });

  it("carries the names of today, signed", async () => {
    const world = createWorld();
    const vault = await world.open();
    const { secretId } = await protect(vault, textSecret("Before", makePicture("market")), {});
    await update(vault, secretId, { baseVersion: 1, title: "After", tags: ["new"] }, {});
    const { secrets } = await openKitFrom(
      world,
      (await createKit(vault, createDeps(), [secretId], makePicture("market"))).file,
    );
    expect(secrets).toMatchObject([{ ticket: { title: "After", tags: ["new"] }, author: "verified" }]);
  });

  it("takes the passphrase of the picture, and says so", async () => {
    const world = createWorld();
    const vault = await world.open();
    const { secretId } = await protect(vault, textSecret("First", makePicture("market", "correct horse")), {});
    const created = await createKit(vault, createDeps(), [secretId], makePicture("market", "correct horse"));
    expect(created.hasPassphrase).toBe(true);
    await expect(openKitFrom(world, created.file, "market", "wrong")).rejects.toEqual(
      errorWithCode("not_this_picture_or_passphrase"),
    );
    await expect(openKitFrom(world, created.file, "market")).rejects.toEqual(
      errorWithCode("not_this_picture_or_passphrase"),
    );
    const kit = await openKitFrom(world, created.file, "market", "correct horse");
    expect(requiresPassphrase(kit.kit)).toBe(true);
    expect(await readTexts(kit)).toEqual([["First", "content of First"]]);
  });

  it("puts a content over 1 MiB beside itself, sealed", async () => {
    const world = createWorld();
    const { tab, laptop, first } = await openTabWithFirstSecret(world);
    const { file, plain } = randomFile(maxInlineKitContentBytes + 1);
    const uploadId = await beginUpload(laptop, tab, makeProtectOrder(fileSecret("Film", file)), {});
    await tab.send(uploadId, file);
    const { secretId: large } = await finishUpload(laptop, tab, uploadId, null, {});
    const created = await createKit(laptop, createDeps(tab.calls.range), [first, large], makePicture("market"));
    expect(created.attachments).toMatchObject([{ secretId: large, name: `${large}.age` }]);
    const [beside] = created.attachments;
    const kit = await openKitFrom(world, created.file);
    const secret = kit.secrets[1];
    if (beside === undefined || secret == null) throw new Error("the large one is missing");
    expect(secret.sealed).toBeNull();
    expect(await collectBytes(openDetachedContent(secret, beside.file))).toEqual(plain);
    const tampered = await readBytes(beside.file);
    for (const lastByte of tampered.subarray(-1)) tampered.set([lastByte ^ 1], tampered.length - 1);
    await expect(collectBytes(openDetachedContent(secret, new Blob([tampered])))).rejects.toEqual(
      errorWithCode("digest_mismatch"),
    );
    await expect(collectBytes(openDetachedContent(secret, beside.file.slice(0, 70_000)))).rejects.toEqual(
      errorWithCode("digest_mismatch"),
    );
  });
});
