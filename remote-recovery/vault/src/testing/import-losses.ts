import type { ImportReadResult } from "@relicario/shared/contract";

import { humanizeName } from "../imports/reading/item-values.ts";
import { readImport } from "../imports/reading/read-import.ts";
import type { PlantedValue } from "./import-samples.ts";

/** Reads an import and confirms the guess for every question. */
export async function readAnswering(content: BlobPart): Promise<ImportReadResult> {
  const files = [{ path: "export", content: new Blob([content]) }];
  const read = await readImport(files, { language: "en" });
  switch (read.status) {
    case "columns_needed":
      return readImport(files, {
        language: "en",
        columns: read.columns.map(({ role }) => role),
        isFirstRowEntry: read.isFirstRowEntry,
      });
    case "encoding_needed":
      return readImport(files, { language: "en", encoding: read.encodings[0]?.encoding ?? "utf-8" });
    case "password_needed":
      return readImport(files, { language: "en", password: "pässword" });
    case "password_wrong":
    case "read":
    case "refused":
      return read;
  }
}

/** Members by which a program identifies its entries; they become marks. */
const ids: ReadonlySet<string> = new Set(["id", "uuid", "itemId", "uid", "UUID", "parent_uuid"]);

/** Lists members whose values are in no item and no failure, and that are not named as left out. */
export async function listLostValues(
  planted: readonly PlantedValue[],
  read: Extract<ImportReadResult, { status: "read" }>,
): Promise<string[]> {
  const contents = await Promise.all(read.items.map(({ content }) => content.text()));
  const found = JSON.stringify([
    contents,
    read.items.map(({ title, tags, name, mime }) => [title, tags, name, mime]),
    read.failures,
    read.leftOut,
  ]);
  const leftOut = new Set<string>(read.leftOut);
  const isLeftOut = (name: string): boolean =>
    ids.has(name) || leftOut.has(name.trim()) || leftOut.has(humanizeName(name));
  // a damaged attachment is only reported by its name
  const isDamagedFile = (path: readonly string[]): boolean =>
    path.at(-1) === "data" && read.failures.some(({ reason }) => reason === "damaged");
  return planted.flatMap(({ value, path }) =>
    found.includes(value) || path.some(isLeftOut) || isDamagedFile(path) ? [] : [path.join(".")],
  );
}
