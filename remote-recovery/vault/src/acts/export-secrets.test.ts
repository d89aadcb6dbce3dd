import "fake-indexeddb/auto";

import { fromB64u, toB64u } from "@relicario/shared/api";
import { z } from "zod";

import { isIdentity, openWith } from "../seal/age.ts";
import { copyOf, digestOf, sha256, type Bytes } from "../seal/bytes.ts";
import { padText } from "../seal/content.ts";
import { parseDocument } from "../seal/document.ts";
import { isSignedBy, OwnerTicket } from "../seal/ticket.ts";
import { createWorld, shown, textSecret, userId, type World } from "../testing/world.ts";
import type { Sink } from "../transfer/sinks.ts";
import { exportSecrets, type ExportParts } from "./export-secrets.ts";
import { protect } from "./protect.ts";
import { trash } from "./favorite-and-trash.ts";
import { unlock } from "./unlock.ts";
import { update } from "./update.ts";

const code = (expected: string): unknown => expect.objectContaining({ code: expected });
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

function memory(): { sink: Sink<Blob>; seen: { committed: boolean; discarded: boolean } } {
  const written: Bytes[] = [];
  const seen = { committed: false, discarded: false };
  const sink: Sink<Blob> = {
    write: async (bytes) => void written.push(copyOf(bytes)),
    commit: async () => {
      seen.committed = true;
      return new Blob(written);
    },
    discard: async () => {
      seen.discarded = true;
    },
  };
  return { sink, seen };
}

function parts(
  sink: Sink<Blob>,
  range: ExportParts["range"] = () => Promise.reject(new Error("nothing here is large")),
): ExportParts {
  return { range, patience: { wait: () => Promise.resolve() }, openSink: () => Promise.resolve(sink) };
}

/** Three secrets: the market opens all, the harbour the last one alone. */
async function filledWorld(): Promise<{ world: World; ids: [string, string, string] }> {
  const world = createWorld();
  const vault = await world.open();
  const first = await protect(vault, textSecret("First", shown("market")), {});
  const second = await protect(vault, textSecret("Second"), {});
  const third = await protect(vault, textSecret("Third", shown("harbour")), {});
  return { world, ids: [first.secretId, second.secretId, third.secretId] };
}

/** Reads a stored archive by its central directory, as any program would. */
async function unzip(archive: Blob): Promise<Map<string, Bytes>> {
  const bytes = new Uint8Array(await archive.arrayBuffer());
  const view = new DataView(bytes.buffer);
  const files = new Map<string, Bytes>();
  const end = bytes.length - 22;
  expect(view.getUint32(end, true)).toBe(0x06054b50);
  for (let at = view.getUint32(end + 16, true), left = view.getUint16(end + 10, true); left > 0; left--) {
    const [size, nameLength, extra, comment, local] = [
      view.getUint32(at + 24, true),
      view.getUint16(at + 28, true),
      view.getUint16(at + 30, true),
      view.getUint16(at + 32, true),
      view.getUint32(at + 42, true),
    ];
    expect(view.getUint16(at + 10, true)).toBe(0); // stored: sealed bytes do not shrink
    const name = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameLength));
    const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    files.set(name, bytes.slice(start, start + size));
    at += 46 + nameLength + extra + comment;
  }
  return files;
}

function fileOf(files: ReadonlyMap<string, Bytes>, name: string): Bytes {
  const file = files.get(name);
  if (file === undefined) throw new Error(`${name} is not in the archive`);
  return file;
}

async function opened(
  files: ReadonlyMap<string, Bytes>,
  identity: string,
  secretId: string,
): Promise<{ ticket: { title: string; size: number }; content: Bytes }> {
  const plain = await openWith(identity, fileOf(files, `${secretId}.ticket.age`), "one");
  if (plain === null) throw new Error("the exit identity does not open the ticket");
  const ticket = z
    .object({ title: z.string(), size: z.number(), content_identity: z.string() })
    .parse(JSON.parse(new TextDecoder().decode(plain)));
  const content = await openWith(ticket.content_identity, fileOf(files, `${secretId}.age`), "one");
  if (content === null) throw new Error("the content identity does not open the content");
  return { ticket, content };
}

describe("exportSecrets", () => {
  it("writes what the picture opens, sealed to an identity that is in no file", async () => {
    const { world, ids } = await filledWorld();
    const { sink, seen } = memory();
    const told: number[] = [];
    const done = await exportSecrets(await world.open(), parts(sink), ids, shown("market"), {
      onProgress: ({ phase, done: bytes, total }) => {
        if (phase === "fetching") told.push(bytes / total);
      },
    });
    expect(done).toMatchObject({ exported: 3, left: [], notVerified: [] });
    expect(seen).toEqual({ committed: true, discarded: false });
    expect(told.at(-1)).toBe(1);
    expect(isIdentity(done.identity)).toBe(true);

    const files = await unzip(done.archive);
    expect([...files.keys()].toSorted()).toEqual(
      [
        ...ids.flatMap((id) => [`${id}.age`, `${id}.ticket.age`]),
        "LEEME.txt",
        "README.txt",
        "manifest.json",
      ].toSorted(),
    );
    for (const bytes of files.values()) expect(new TextDecoder("latin1").decode(bytes)).not.toContain(done.identity);
    const first = await opened(files, done.identity, ids[0]);
    expect(first.ticket).toMatchObject({ title: "First", size: 16 });
    expect(first.content).toEqual(padText(new TextEncoder().encode("content of First")));

    const { secrets } = Manifest.parse(JSON.parse(new TextDecoder().decode(fileOf(files, "manifest.json"))));
    expect(secrets.map(({ secret_id }) => secret_id)).toEqual(ids);
    for (const one of secrets) {
      expect(one.author).toBe("verified");
      expect(toB64u(sha256(fileOf(files, one.ticket)))).toBe(one.ticket_sha256);
      expect(toB64u(await digestOf(fileOf(files, one.content)))).toBe(one.content_sha256);
    }
    expect(new TextDecoder().decode(fileOf(files, "README.txt"))).toContain("age -d -i exit.txt");
  });

  it("makes another identity for every archive, and says no title outside what is sealed", async () => {
    const { world, ids } = await filledWorld();
    const vault = await world.open();
    const [one, other] = [
      await exportSecrets(vault, parts(memory().sink), ids, shown("market"), {}),
      await exportSecrets(vault, parts(memory().sink), ids, shown("market"), {}),
    ];
    expect(one.identity).not.toBe(other.identity);
    for (const bytes of (await unzip(one.archive)).values())
      expect(new TextDecoder("latin1").decode(bytes)).not.toMatch(/First|Second/);
  });

  it("says the title of today after a renaming, signed", async () => {
    const { world, ids } = await filledWorld();
    const vault = await world.open();
    (await unlock(vault, shown("market"), {})).opener.forget();
    await update(vault, ids[0], { baseVersion: 1, title: "Renamed", tags: ["new"] }, {});
    const done = await exportSecrets(vault, parts(memory().sink), [ids[0]], shown("market"), {});
    const plain = await openWith(done.identity, fileOf(await unzip(done.archive), `${ids[0]}.ticket.age`), "one");
    const ticket = parseDocument(OwnerTicket, plain ?? new Uint8Array());
    expect(ticket).toMatchObject({ title: "Renamed", tags: ["new"], version: 1, rev: 2 });
    expect(isSignedBy(ticket, vault.keys === null ? [] : [vault.keys.signingKey])).toBe(true);
  });

  it("reads once more when another device saved since the list was read", async () => {
    const { world, ids } = await filledWorld();
    const vault = await world.open();
    const other = await world.open("phone");
    (await unlock(other, shown("market"), {})).opener.forget();
    const { sink } = memory();
    let saved = false;
    const saving = {
      ...sink,
      write: async (bytes: Bytes) => {
        if (!saved) {
          saved = true;
          await update(other, ids[2], { baseVersion: 1, title: "Saved meanwhile" }, {});
        }
        await sink.write(bytes);
      },
    };
    const done = await exportSecrets(vault, parts(saving), ids, shown("market"), {});
    expect((await opened(await unzip(done.archive), done.identity, ids[2])).ticket.title).toBe("Saved meanwhile");
  });

  it("unlocks a locked device with the same picture, and names what it does not open", async () => {
    const { world, ids } = await filledWorld();
    const phone = await world.open("phone");
    await expect(exportSecrets(phone, parts(memory().sink), ids, shown("harbour"), {})).resolves.toMatchObject({
      exported: 1,
      left: ids.slice(0, 2),
    });
    expect(phone.getState()).toMatchObject({ status: "unlocked" });
  });

  it("leaves what the service has dropped, and refuses what it does not know", async () => {
    const { world, ids } = await filledWorld();
    const vault = await world.open();
    await trash(vault, ids[1]);
    const { page } = vault.service;
    const dropped: typeof page = async (...given) => {
      const read = await page(...given);
      return {
        ...read,
        secrets: read.secrets.map((row) =>
          row.deleted_at === undefined ? row : { ...row, dropped_at: row.deleted_at },
        ),
      };
    };
    await expect(
      exportSecrets(
        { ...vault, service: { ...vault.service, page: dropped } },
        parts(memory().sink),
        ids,
        shown("market"),
        {},
      ),
    ).resolves.toMatchObject({ exported: 2, left: [ids[1]] });
    await expect(exportSecrets(vault, parts(memory().sink), [...ids, userId], shown("market"), {})).rejects.toEqual(
      code("not_found"),
    );
  });

  it("refuses another picture, one that opens none of them, and writes nothing", async () => {
    const { world, ids } = await filledWorld();
    const vault = await world.open();
    const { sink, seen } = memory();
    await expect(exportSecrets(vault, parts(sink), ids, shown("forest"), {})).rejects.toEqual(code("not_this_picture"));
    await expect(exportSecrets(vault, parts(sink), ids.slice(0, 2), shown("harbour"), {})).rejects.toEqual(
      code("opener_needed"),
    );
    expect(seen).toEqual({ committed: false, discarded: false });
  });

  it("discards everything when it is cancelled half way", async () => {
    const { world, ids } = await filledWorld();
    const { sink, seen } = memory();
    const controller = new AbortController();
    const cancelling = {
      ...sink,
      write: async (bytes: Bytes) => {
        controller.abort();
        await sink.write(bytes);
      },
    };
    await expect(
      exportSecrets(await world.open(), parts(cancelling), ids, shown("market"), { signal: controller.signal }),
    ).rejects.toEqual(code("cancelled"));
    expect(seen).toEqual({ committed: false, discarded: true });
  });

  it("discards everything when a content is not what its ticket says", async () => {
    const { world, ids } = await filledWorld();
    const { sink, seen } = memory();
    const vault = await world.open();
    const { secret } = vault.service;
    const changed = async (...given: Parameters<typeof secret>): ReturnType<typeof secret> => {
      const stored = await secret(...given);
      const content = fromB64u(stored.content ?? "");
      content[content.length - 1] = (content[content.length - 1] ?? 0) ^ 1;
      return { ...stored, content: toB64u(content) };
    };
    await expect(
      exportSecrets(
        { ...vault, service: { ...vault.service, secret: changed } },
        parts(sink),
        ids,
        shown("market"),
        {},
      ),
    ).rejects.toMatchObject({ code: "decryption_failed", details: { secret_id: ids[0] } });
    expect(seen).toEqual({ committed: false, discarded: true });
  });

  it("fetches a large content in ranges, and compares it with its ticket", async () => {
    const { world, ids } = await filledWorld();
    const vault = await world.open();
    const { secret } = vault.service;
    const whole = fromB64u((await secret(ids[0], null)).content ?? "");
    const asLarge = {
      ...vault,
      service: {
        ...vault.service,
        secret: async (...given: Parameters<typeof secret>) => ({ ...(await secret(...given)), content: null }),
      },
    };
    const inTwo: ExportParts["range"] = async (_content, start) => ({
      bytes: whole.slice(start, start === 0 ? 1000 : whole.length),
      size: whole.length,
    });
    const done = await exportSecrets(asLarge, parts(memory().sink, inTwo), [ids[0]], shown("market"), {});
    expect(fileOf(await unzip(done.archive), `${ids[0]}.age`)).toEqual(whole);
    const endless: ExportParts["range"] = async (_content, start) => ({
      bytes: new Uint8Array(1000),
      size: start + 2000,
    });
    await expect(exportSecrets(asLarge, parts(memory().sink, endless), [ids[0]], shown("market"), {})).rejects.toEqual(
      code("decryption_failed"),
    );
    const short: ExportParts["range"] = async () => ({ bytes: new Uint8Array(), size: whole.length });
    await expect(exportSecrets(asLarge, parts(memory().sink, short), [ids[0]], shown("market"), {})).rejects.toEqual(
      code("decryption_failed"),
    );
  });
});
