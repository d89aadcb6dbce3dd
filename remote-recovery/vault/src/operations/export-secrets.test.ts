import "fake-indexeddb/auto";

import { fromBase64url, toBase64url } from "@relicario/shared/api";
import { z } from "zod";

import { isIdentity, openWith } from "../seal/age.ts";
import { copyOf, sha256Async, sha256, type Bytes } from "../seal/bytes.ts";
import { padText } from "../seal/content.ts";
import { parseDocument } from "../seal/document.ts";
import { isSignedBy, OwnerTicket } from "../seal/ticket.ts";
import { createWorld, makePicture, textSecret, userId, type World } from "../testing/world.ts";
import type { Sink } from "../transfer/sinks.ts";
import { exportSecrets, type ExportDeps } from "./export-secrets.ts";
import { protect } from "./protect.ts";
import { moveToTrash } from "./favorite-and-trash.ts";
import { unlock } from "../openers/unlock.ts";
import { update } from "./update.ts";

const errorWithCode = (expected: string): unknown => expect.objectContaining({ code: expected });
const Manifest = z.strictObject({
  v: z.literal(2),
  made_at: z.iso.datetime(),
  secrets: z.array(
    z.strictObject({
      secret_id: z.string(),
      version: z.number(),
      author: z.enum(["verified", "not_verified"]),
      favorite: z.boolean(),
      ticket: z.string(),
      ticket_sha256: z.string(),
      content: z.string(),
      content_sha256: z.string(),
    }),
  ),
});

function createMemorySink(): { sink: Sink; calls: { committed: boolean; discarded: boolean } } {
  const writtenChunks: Bytes[] = [];
  const calls = { committed: false, discarded: false };
  const sink: Sink = {
    write: async (bytes) => void writtenChunks.push(copyOf(bytes)),
    commit: async () => {
      calls.committed = true;
      return new Blob(writtenChunks);
    },
    discard: async () => {
      calls.discarded = true;
    },
  };
  return { sink, calls };
}

function createDeps(
  sink: Sink,
  range: ExportDeps["range"] = () => Promise.reject(new Error("expected a small content")),
): ExportDeps {
  return { range, retryPolicy: { wait: () => Promise.resolve() }, openSink: () => Promise.resolve(sink) };
}

/**
 * An account of three secrets: the picture `market` opens all, `harbour` opens only the last one.
 */
async function createFilledWorld(): Promise<{ world: World; ids: [string, string, string] }> {
  const world = createWorld();
  const vault = await world.open();
  const firstSecret = await protect(vault, textSecret("First", makePicture("market")), {});
  const secondSecret = await protect(vault, textSecret("Second"), {});
  const thirdSecret = await protect(vault, textSecret("Third", makePicture("harbour")), {});
  return { world, ids: [firstSecret.secretId, secondSecret.secretId, thirdSecret.secretId] };
}

/** Reads an uncompressed archive by its central directory. */
async function unzip(archive: Blob): Promise<Map<string, Bytes>> {
  const bytes = new Uint8Array(await archive.arrayBuffer());
  const view = new DataView(bytes.buffer);
  const files = new Map<string, Bytes>();
  const end = bytes.length - 22;
  expect(view.getUint32(end, true)).toBe(0x06054b50);
  for (
    let offset = view.getUint32(end + 16, true), remaining = view.getUint16(end + 10, true);
    remaining > 0;
    remaining--
  ) {
    const [size, nameLength, extraLength, commentLength, localOffset] = [
      view.getUint32(offset + 24, true),
      view.getUint16(offset + 28, true),
      view.getUint16(offset + 30, true),
      view.getUint16(offset + 32, true),
      view.getUint32(offset + 42, true),
    ];
    expect(view.getUint16(offset + 10, true)).toBe(0); // uncompressed, since sealed bytes do not shrink
    const name = new TextDecoder().decode(bytes.subarray(offset + 46, offset + 46 + nameLength));
    const start = localOffset + 30 + view.getUint16(localOffset + 26, true) + view.getUint16(localOffset + 28, true);
    files.set(name, bytes.slice(start, start + size));
    offset += 46 + nameLength + extraLength + commentLength;
  }
  return files;
}

function fileOf(files: ReadonlyMap<string, Bytes>, name: string): Bytes {
  const file = files.get(name);
  if (file === undefined) throw new Error(`${name} is not in the archive`);
  return file;
}

async function openExported(
  files: ReadonlyMap<string, Bytes>,
  identity: string,
  secretId: string,
): Promise<{ ticket: { title: string; size: number }; content: Bytes }> {
  const plainTicket = await openWith(identity, fileOf(files, `${secretId}.ticket.age`), "one");
  if (plainTicket === null) throw new Error("the exit identity must open the ticket");
  const ticket = z
    .object({ title: z.string(), size: z.number(), content_identity: z.string() })
    .parse(JSON.parse(new TextDecoder().decode(plainTicket)));
  const content = await openWith(ticket.content_identity, fileOf(files, `${secretId}.age`), "one");
  if (content === null) throw new Error("the content identity must open the content");
  return { ticket, content };
}

describe("exportSecrets", () => {
  it("writes the secrets that the picture opens, sealed to an identity that is in no file", async () => {
    const { world, ids } = await createFilledWorld();
    const { sink, calls } = createMemorySink();
    const fractions: number[] = [];
    const result = await exportSecrets(await world.open(), createDeps(sink), ids, makePicture("market"), {
      onProgress: ({ phase, done: bytes, total }) => {
        if (phase === "fetching") fractions.push(bytes / total);
      },
    });
    expect(result).toMatchObject({ exportedCount: 3, skippedIds: [], unverifiedIds: [] });
    expect(calls).toEqual({ committed: true, discarded: false });
    expect(fractions.at(-1)).toBe(1);
    expect(isIdentity(result.identity)).toBe(true);

    const files = await unzip(result.archive);
    expect([...files.keys()].toSorted()).toEqual(
      [
        ...ids.flatMap((id) => [`${id}.age`, `${id}.ticket.age`]),
        "LEEME.txt",
        "README.txt",
        "manifest.json",
      ].toSorted(),
    );
    for (const bytes of files.values()) expect(new TextDecoder("latin1").decode(bytes)).not.toContain(result.identity);
    const openedFirst = await openExported(files, result.identity, ids[0]);
    expect(openedFirst.ticket).toMatchObject({ title: "First", size: 16 });
    expect(openedFirst.content).toEqual(padText(new TextEncoder().encode("content of First")));

    const { secrets } = Manifest.parse(JSON.parse(new TextDecoder().decode(fileOf(files, "manifest.json"))));
    expect(secrets.map(({ secret_id }) => secret_id)).toEqual(ids);
    for (const entry of secrets) {
      expect(entry.author).toBe("verified");
      expect(toBase64url(sha256(fileOf(files, entry.ticket)))).toBe(entry.ticket_sha256);
      expect(toBase64url(await sha256Async(fileOf(files, entry.content)))).toBe(entry.content_sha256);
    }
    expect(new TextDecoder().decode(fileOf(files, "README.txt"))).toContain("age -d -i exit.txt");
  });

  it("uses a new identity for every archive, and reveals no title outside sealed files", async () => {
    const { world, ids } = await createFilledWorld();
    const vault = await world.open();
    const [firstArchive, secondArchive] = [
      await exportSecrets(vault, createDeps(createMemorySink().sink), ids, makePicture("market"), {}),
      await exportSecrets(vault, createDeps(createMemorySink().sink), ids, makePicture("market"), {}),
    ];
    expect(firstArchive.identity).not.toBe(secondArchive.identity);
    for (const bytes of (await unzip(firstArchive.archive)).values())
      expect(new TextDecoder("latin1").decode(bytes)).not.toMatch(/First|Second/);
  });

  it("signs the current title after a renaming", async () => {
    const { world, ids } = await createFilledWorld();
    const vault = await world.open();
    (await unlock(vault, makePicture("market"), {})).opener.wipe();
    await update(vault, ids[0], { baseVersion: 1, title: "Renamed", tags: ["new"] }, {});
    const result = await exportSecrets(vault, createDeps(createMemorySink().sink), [ids[0]], makePicture("market"), {});
    const plainTicket = await openWith(
      result.identity,
      fileOf(await unzip(result.archive), `${ids[0]}.ticket.age`),
      "one",
    );
    const ticket = parseDocument(OwnerTicket, plainTicket ?? new Uint8Array());
    expect(ticket).toMatchObject({ title: "Renamed", tags: ["new"], version: 1, rev: 2 });
    expect(isSignedBy(ticket, vault.keys === null ? [] : [vault.keys.authorKey])).toBe(true);
  });

  it("reads a secret again when another device has changed it after the list was read", async () => {
    const { world, ids } = await createFilledWorld();
    const vault = await world.open();
    const otherDevice = await world.open("phone");
    (await unlock(otherDevice, makePicture("market"), {})).opener.wipe();
    const { sink } = createMemorySink();
    let hasSaved = false;
    const savingSink = {
      ...sink,
      write: async (bytes: Bytes) => {
        if (!hasSaved) {
          hasSaved = true;
          await update(otherDevice, ids[2], { baseVersion: 1, title: "Saved meanwhile" }, {});
        }
        await sink.write(bytes);
      },
    };
    const result = await exportSecrets(vault, createDeps(savingSink), ids, makePicture("market"), {});
    expect((await openExported(await unzip(result.archive), result.identity, ids[2])).ticket.title).toBe(
      "Saved meanwhile",
    );
  });

  it("unlocks a locked device with the same picture, and names secrets that the picture does not open", async () => {
    const { world, ids } = await createFilledWorld();
    const phone = await world.open("phone");
    await expect(
      exportSecrets(phone, createDeps(createMemorySink().sink), ids, makePicture("harbour"), {}),
    ).resolves.toMatchObject({
      exportedCount: 1,
      skippedIds: ids.slice(0, 2),
    });
    expect(phone.state).toMatchObject({ status: "unlocked" });
  });

  it("skips dropped secrets, and refuses unknown ids", async () => {
    const { world, ids } = await createFilledWorld();
    const vault = await world.open();
    await moveToTrash(vault, ids[1]);
    const { service } = vault;
    const { getListPage } = service;
    const listDroppedPage: typeof getListPage = async (...parameters) => {
      const listPage = await getListPage(...parameters);
      return {
        ...listPage,
        secrets: listPage.secrets.map((row) =>
          row.deleted_at === undefined ? row : { ...row, dropped_at: row.deleted_at },
        ),
      };
    };
    await expect(
      exportSecrets(
        Object.assign(vault, { service: { ...vault.service, getListPage: listDroppedPage } }),
        createDeps(createMemorySink().sink),
        ids,
        makePicture("market"),
        {},
      ),
    ).resolves.toMatchObject({ exportedCount: 2, skippedIds: [ids[1]] });
    Object.assign(vault, { service });
    await expect(
      exportSecrets(vault, createDeps(createMemorySink().sink), [...ids, userId], makePicture("market"), {}),
    ).rejects.toEqual(errorWithCode("not_found"));
  });

  it("refuses another picture, and one that opens none of the secrets, and writes nothing", async () => {
    const { world, ids } = await createFilledWorld();
    const vault = await world.open();
    const { sink, calls } = createMemorySink();
    await expect(exportSecrets(vault, createDeps(sink), ids, makePicture("forest"), {})).rejects.toEqual(
      errorWithCode("not_this_picture"),
    );
    await expect(exportSecrets(vault, createDeps(sink), ids.slice(0, 2), makePicture("harbour"), {})).rejects.toEqual(
      errorWithCode("opener_needed"),
    );
    expect(calls).toEqual({ committed: false, discarded: false });
  });

  it("discards the archive when cancelled half-way", async () => {
    const { world, ids } = await createFilledWorld();
    const { sink, calls } = createMemorySink();
    const controller = new AbortController();
    const cancellingSink = {
      ...sink,
      write: async (bytes: Bytes) => {
        controller.abort();
        await sink.write(bytes);
      },
    };
    await expect(
      exportSecrets(await world.open(), createDeps(cancellingSink), ids, makePicture("market"), {
        signal: controller.signal,
      }),
    ).rejects.toEqual(errorWithCode("cancelled"));
    expect(calls).toEqual({ committed: false, discarded: true });
  });

  it("discards the archive when a content does not match its ticket", async () => {
    const { world, ids } = await createFilledWorld();
    const { sink, calls } = createMemorySink();
    const vault = await world.open();
    const { getSecret } = vault.service;
    const readTampered = async (...parameters: Parameters<typeof getSecret>): ReturnType<typeof getSecret> => {
      const storedSecret = await getSecret(...parameters);
      const content = fromBase64url(storedSecret.content ?? "");
      content[content.length - 1] = (content[content.length - 1] ?? 0) ^ 1;
      return { ...storedSecret, content: toBase64url(content) };
    };
    await expect(
      exportSecrets(
        Object.assign(vault, { service: { ...vault.service, getSecret: readTampered } }),
        createDeps(sink),
        ids,
        makePicture("market"),
        {},
      ),
    ).rejects.toMatchObject({ code: "decryption_failed", details: { secret_id: ids[0] } });
    expect(calls).toEqual({ committed: false, discarded: true });
  });

  it("fetches a large content in ranges, and compares the content with its ticket", async () => {
    const { world, ids } = await createFilledWorld();
    const vault = await world.open();
    const { getSecret } = vault.service;
    const sealedBytes = fromBase64url((await getSecret(ids[0], null)).content ?? "");
    const vaultWithLarge = Object.assign(vault, {
      service: {
        ...vault.service,
        getSecret: async (...parameters: Parameters<typeof getSecret>) => ({
          ...(await getSecret(...parameters)),
          content: null,
        }),
      },
    });
    const rangeInTwo: ExportDeps["range"] = async (_content, start) => ({
      bytes: sealedBytes.slice(start, start === 0 ? 1000 : sealedBytes.length),
      size: sealedBytes.length,
    });
    const result = await exportSecrets(
      vaultWithLarge,
      createDeps(createMemorySink().sink, rangeInTwo),
      [ids[0]],
      makePicture("market"),
      {},
    );
    expect(fileOf(await unzip(result.archive), `${ids[0]}.age`)).toEqual(sealedBytes);
    const endlessRange: ExportDeps["range"] = async (_content, start) => ({
      bytes: new Uint8Array(1000),
      size: start + 2000,
    });
    await expect(
      exportSecrets(
        vaultWithLarge,
        createDeps(createMemorySink().sink, endlessRange),
        [ids[0]],
        makePicture("market"),
        {},
      ),
    ).rejects.toEqual(errorWithCode("decryption_failed"));
    const emptyRange: ExportDeps["range"] = async () => ({ bytes: new Uint8Array(), size: sealedBytes.length });
    await expect(
      exportSecrets(
        vaultWithLarge,
        createDeps(createMemorySink().sink, emptyRange),
        [ids[0]],
        makePicture("market"),
        {},
      ),
    ).rejects.toEqual(errorWithCode("decryption_failed"));
  });
});
