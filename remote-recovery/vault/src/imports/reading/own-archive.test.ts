import "../../testing/small-limits.ts";

import { maxFileBytes } from "@relicario/shared/api";
import type { ImportItem, ImportReadResult } from "@relicario/shared/contract";

import type { Bytes } from "../../seal/bytes.ts";
import { buildArchive, zipEntries } from "../../testing/own-archive.ts";
import { openSealedContent } from "./sealed-content.ts";
import { computeSource } from "../source.ts";
import { readImport } from "./read-import.ts";

const read = (zip: Blob, exitIdentity: string): Promise<ImportReadResult> =>
  readImport([{ path: "secrets-export.zip", content: zip }], { language: "en", exitIdentity });
const readItems = async (reading: Promise<ImportReadResult>): Promise<readonly ImportItem[]> => {
  const result = await reading;
  if (result.status !== "read") throw new Error(result.status);
  expect(result.failures).toEqual([]);
  return result.items;
};
const openSealed = async (item: ImportItem | undefined): Promise<Bytes> => {
  if (item?.sealedContent === undefined) throw new Error("expected a sealed content");
  const chunks: Bytes[] = [];
  await openSealedContent(
    item.content,
    { ...item.sealedContent, contentKind: item.contentKind },
    (bytes) => void chunks.push(bytes),
  );
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
};
const large = {
  title: "Film",
  contentKind: "file",
  plaintext: Uint8Array.from({ length: 300_000 }, (_, index) => (index * index) % 251),
} as const;
const text = {
  title: "Diary",
  contentKind: "text",
  plaintext: new TextEncoder().encode("línea\n".repeat(50_000)),
} as const;
const small = { title: "Key", contentKind: "text", plaintext: new TextEncoder().encode("under the mat") } as const;

describe("large contents in this portal's own archive", () => {
  it("are read as parts of the file, whatever their size and number, and opened on demand", async () => {
    const { zip, identity, entries } = await buildArchive([large, text, small]);
    const [film, diary, key] = await readItems(read(zip, identity));
    expect([film?.content.size, diary?.content.size]).toEqual(
      [...entries].filter(([name]) => /^.{35}[01]\.age$/.test(name)).map(([, { length }]) => length),
    );
    expect([film?.sealedContent?.size, diary?.sealedContent?.size, key?.sealedContent]).toEqual([
      large.plaintext.length,
      text.plaintext.length,
      undefined,
    ]);
    expect(await openSealed(film)).toEqual(large.plaintext);
    expect(await openSealed(diary)).toEqual(text.plaintext);
    expect(await key?.content.text()).toBe("under the mat");
  });

  it("keep the marks that earlier releases gave them", async () => {
    const { zip, identity } = await buildArchive([large, text]);
    const items = await readItems(read(zip, identity));
    const formerItems = [large, text].map(({ plaintext }, index): ImportItem => {
      const { sealedContent: _, ...item } = items[index] ?? ({} as ImportItem);
      return { ...item, content: new Blob([plaintext]) };
    });
    const key = new Uint8Array(32).fill(7);
    expect(await Promise.all(items.map((item) => computeSource(key, item)))).toEqual(
      await Promise.all(formerItems.map((item) => computeSource(key, item))),
    );
  });

  it.each([
    ["bytes that were changed", { changed: true }, "damaged"],
    ["a ticket that says another size", { ticketOverrides: { size: 290_000 } }, "damaged"],
    ["a ticket that says more than a file may have", { ticketOverrides: { size: maxFileBytes + 1 } }, "too_large"],
  ])(
    "are reported and skipped with %s",
    async (
      _name,
      { ticketOverrides = {}, changed = false }: { ticketOverrides?: { size?: number }; changed?: boolean },
      reason,
    ) => {
      const { identity, entries } = await buildArchive([{ ...large, ticketOverrides }, small]);
      const [name, sealed] = [...entries].find(([entryName]) => entryName.endsWith("0.age")) ?? ["", new Uint8Array()];
      if (changed) sealed.subarray(-1_000).fill(0);
      const answer = await read(await zipEntries(new Map([...entries, [name, sealed]])), identity);
      expect(answer).toMatchObject({
        status: "read",
        items: [{ title: "Key" }],
        failures: [{ location: "Film", reason }],
      });
    },
  );

  it.each([
    [
      "lies outside of it",
      (entry: DataView, archiveLength: number) =>
        [20, 24].forEach((offset) => {
          entry.setUint32(offset, archiveLength, true);
        }),
    ],
    [
      "says two sizes",
      (entry: DataView) => {
        entry.setUint32(24, 10, true);
      },
    ],
    [
      "begins in the middle of another",
      (entry: DataView) => {
        entry.setUint32(42, entry.getUint32(42, true) + 100, true);
      },
    ],
  ])("cause a refusal of the archive if a content %s", async (_name, change) => {
    const { zip, identity } = await buildArchive([large]);
    const bytes = new Uint8Array(await zip.arrayBuffer());
    change(directoryEntry(bytes, "000000000000.age"), bytes.length);
    expect(await read(new Blob([bytes]), identity)).toEqual({ status: "refused", reason: "damaged" });
  });

  it("cause a refusal of the archive if its manifest names the same content repeatedly", async () => {
    const { identity, entries } = await buildArchive([large]);
    const manifest = JSON.parse(new TextDecoder().decode(entries.get("manifest.json"))) as { secrets: unknown[] };
    const repeated = new TextEncoder().encode(
      JSON.stringify({ ...manifest, secrets: [...manifest.secrets, ...manifest.secrets] }),
    );
    expect(await read(await zipEntries(new Map([...entries, ["manifest.json", repeated]])), identity)).toEqual({
      status: "refused",
      reason: "damaged",
    });
  });
});

/** The entry of a file in the central directory. */
function directoryEntry(zip: Bytes, endOfName: string): DataView {
  const nameOffset = Buffer.from(zip.buffer).lastIndexOf(endOfName);
  const start = Buffer.from(zip.buffer).lastIndexOf(Buffer.from("PK\x01\x02", "latin1"), nameOffset);
  return new DataView(zip.buffer, start);
}
