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
import { fileSecret, makeProtectPlan, randomFile, openTabWithFirstSecret } from "../testing/uploading-tab.ts";
import { createWorld, makePicture, textSecret, type World } from "../testing/world.ts";
import { listImages } from "./examine.ts";
import { list } from "./list.ts";
import { createKit, type KitDeps } from "./create-kit.ts";
import { protect } from "./protect.ts";
import { rotateAccountKey } from "./rotate.ts";
import { beginUpload, finishUpload } from "./resumable-uploads.ts";
import { update } from "./update.ts";

const errorWithCode = (expected: string): unknown => expect.objectContaining({ code: expected });

function createDeps(range: KitDeps["range"] = () => Promise.reject(new Error("expected a small content"))): KitDeps {
  const sink = () => {
    const writtenChunks: Bytes[] = [];
    return {
      write: async (bytes: Bytes) => void writtenChunks.push(bytes),
      commit: async () => new Blob(writtenChunks),
      discard: async () => undefined,
    };
  };
  return {
    range,
    retryPolicy: { wait: () => Promise.resolve() },
    loadReleaseFile: kitFile,
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

describe("createKit", () => {
  it("contains what the picture opens, and opens without service and account", async () => {
    const world = createWorld();
    const vault = await world.open();
    const firstSecret = await protect(vault, textSecret("First", makePicture("market")), {});
    const secondSecret = await protect(vault, textSecret("Second"), {});
    const thirdSecret = await protect(
      vault,
      { ...textSecret("Third"), protection: { kind: "picture", picture: makePicture("harbour"), name: "The harbour" } },
      {},
    );
    const harbourIds = (await listImages(vault)).filter(({ name }) => name === "The harbour").map(({ id }) => id);
    const harbourOnlySecret = await protect(
      vault,
      { ...textSecret("Fourth"), protection: { kind: "openers", openerIds: harbourIds } },
      {},
    );
    const ids = [firstSecret, secondSecret, thirdSecret, harbourOnlySecret].map(({ secretId }) => secretId);
    const createdKit = await createKit(await world.open(), createDeps(), ids, makePicture("market"), {
      note: "In the drawer",
    });
    expect(createdKit).toMatchObject({
      hasPassphrase: false,
      attachments: [],
      skippedIds: [harbourOnlySecret.secretId],
      unverifiedIds: [],
    });
    expect(createdKit.sha256).toBe(bytesToHex(await sha256Async(await readBytes(createdKit.file))));
    const kit = await openKitFrom(world, createdKit.file, "market/small");
    expect(kit.kit.note).toBe("In the drawer");
    expect(requiresPassphrase(kit.kit)).toBe(false);
    expect(await readTexts(kit)).toEqual([
      ["First", "content of First"],
      ["Second", "content of Second"],
      ["Third", "content of Third"],
    ]);
    expect(kit.secrets.map((secret) => secret?.signatureStatus)).toEqual(["verified", "verified", "verified"]);
  });

  it("is recorded in every label, and is outdated after an edit, but not after a renaming", async () => {
    const world = createWorld();
    const vault = await world.open();
    const { secretId } = await protect(vault, textSecret("First", makePicture("market")), {});
    const { secretId: otherId } = await protect(vault, textSecret("Second"), {});
    const createdKit = await createKit(vault, createDeps(), [secretId, otherId], makePicture("market"));
    const readKits = async () => new Map((await list(vault)).map((row) => [row.secretId, row.label?.kits]));
    const kitRecord = { sha256: createdKit.sha256, createdAt: createdKit.createdAt };
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
    expect(await readTexts(await openKitFrom(world, createdKit.file))).toEqual([
      ["First", "content of First"],
      ["Second", "content of Second"],
    ]);
  });

  it("is outdated when the secret is sealed to another picture", async () => {
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

  it("is outdated when the account key is replaced", async () => {
    const world = createWorld();
    const vault = await world.open();
    const { secretId } = await protect(vault, textSecret("First", makePicture("market")), {});
    await createKit(vault, createDeps(), [secretId], makePicture("market"));
    expect((await list(vault))[0]?.label?.kits).toMatchObject([{ outdated: false }]);
    await rotateAccountKey(vault, [makePicture("market")], {});
    expect((await list(vault))[0]?.label?.kits).toMatchObject([{ outdated: true }]);
  });

  it("contains the current names, signed", async () => {
    const world = createWorld();
    const vault = await world.open();
    const { secretId } = await protect(vault, textSecret("Before", makePicture("market")), {});
    await update(vault, secretId, { baseVersion: 1, title: "After", tags: ["new"] }, {});
    const { secrets } = await openKitFrom(
      world,
      (await createKit(vault, createDeps(), [secretId], makePicture("market"))).file,
    );
    expect(secrets).toMatchObject([{ ticket: { title: "After", tags: ["new"] }, signatureStatus: "verified" }]);
  });

  it("needs the passphrase of the picture, and reports that it is missing", async () => {
    const world = createWorld();
    const vault = await world.open();
    const { secretId } = await protect(vault, textSecret("First", makePicture("market", "correct horse")), {});
    const createdKit = await createKit(vault, createDeps(), [secretId], makePicture("market", "correct horse"));
    expect(createdKit.hasPassphrase).toBe(true);
    await expect(openKitFrom(world, createdKit.file, "market", "wrong")).rejects.toEqual(
      errorWithCode("not_this_picture_or_passphrase"),
    );
    await expect(openKitFrom(world, createdKit.file, "market")).rejects.toEqual(
      errorWithCode("not_this_picture_or_passphrase"),
    );
    const kit = await openKitFrom(world, createdKit.file, "market", "correct horse");
    expect(requiresPassphrase(kit.kit)).toBe(true);
    expect(await readTexts(kit)).toEqual([["First", "content of First"]]);
  });

  it("puts a content over 1 MiB into a separate sealed file", async () => {
    const world = createWorld();
    const { tab, laptop, firstId } = await openTabWithFirstSecret(world);
    const { file, plaintext: plainBytes } = randomFile(maxInlineKitContentBytes + 1);
    const uploadId = await beginUpload(laptop, tab, makeProtectPlan(fileSecret("Film", file)), {});
    await tab.send(uploadId, file);
    const { secretId: largeId } = await finishUpload(laptop, tab, uploadId, null, {});
    const createdKit = await createKit(laptop, createDeps(tab.calls.range), [firstId, largeId], makePicture("market"));
    expect(createdKit.attachments).toMatchObject([{ secretId: largeId, name: `${largeId}.age` }]);
    const [attachment] = createdKit.attachments;
    const kit = await openKitFrom(world, createdKit.file);
    const secret = kit.secrets[1];
    if (attachment === undefined || secret == null) throw new Error("expected an attachment");
    expect(secret.sealedContent).toBeNull();
    expect(await collectBytes(openDetachedContent(secret, attachment.file))).toEqual(plainBytes);
    const tampered = await readBytes(attachment.file);
    for (const lastByte of tampered.subarray(-1)) tampered.set([lastByte ^ 1], tampered.length - 1);
    await expect(collectBytes(openDetachedContent(secret, new Blob([tampered])))).rejects.toEqual(
      errorWithCode("digest_mismatch"),
    );
    await expect(collectBytes(openDetachedContent(secret, attachment.file.slice(0, 70_000)))).rejects.toEqual(
      errorWithCode("digest_mismatch"),
    );
  });
});
