import type { ImportFormat, Language, ImportReadResult } from "@relicario/shared/contract";
import { z } from "zod";

import { readBitwarden } from "./bitwarden.ts";
import { readCsv } from "./csv.ts";
import { parseJsonAs, decodeText } from "./decode.ts";
import type { ItemCollector } from "./item-collector.ts";
import { readKeepass } from "./keepass.ts";
import { maxTextBytes } from "./limits.ts";
import { readAttachment, readOnePassword } from "./onepassword.ts";
import { readOwnArchive } from "./own-archive.ts";
import { readProton } from "./proton.ts";
import { ImportRefusedError } from "./import-refused-error.ts";
import { isTextFile, readTextFiles, type ChosenFile } from "./text-files.ts";
import { getImportTexts, type ImportTexts } from "./words.ts";
import { openZip, type Archive } from "./zip.ts";

export interface ReadImportOptions {
  readonly language: Language;
  readonly exitIdentity?: string;
}

/**
 * Reads what was chosen: one file by what is in it, whatever its name says, or the text files of a
 * folder.
 */
export async function readImport(
  files: readonly ChosenFile[],
  { language, exitIdentity }: ReadImportOptions,
): Promise<ImportReadResult> {
  try {
    const { format, items } = await readItems(files, getImportTexts(language), exitIdentity);
    return { status: "read", format, items: items.items, failures: items.failures };
  } catch (error) {
    if (error instanceof ImportRefusedError) return { status: "refused", reason: error.reason };
    throw error;
  }
}

interface CollectedFile {
  readonly format: ImportFormat;
  readonly items: ItemCollector;
}

async function readItems(
  files: readonly ChosenFile[],
  texts: ImportTexts,
  exitIdentity: string | undefined,
): Promise<CollectedFile> {
  const [file] = files;
  if (file === undefined) throw new ImportRefusedError("unknown_format");
  if (files.length > 1 || file.path.includes("/") || isTextFile(file))
    return { format: "text_files", items: await readTextFiles(files, texts) };
  const [first, second] = new Uint8Array(await file.content.slice(0, 2).arrayBuffer());
  if (first === 0x50 && second === 0x4b) return readArchive(await openZip(file.content), texts, exitIdentity);
  const text = await decodeText(file.content);
  const trimmed = text.trimStart();
  if (trimmed.startsWith("<")) return { format: "keepass_xml", items: await readKeepass(trimmed, texts) };
  if (!trimmed.startsWith("{")) return readCsv(text, texts);
  const members = parseJsonAs(z.record(z.string(), z.unknown()), text);
  if ("vaults" in members) return { format: "proton_pass", items: await readProton(text, texts) };
  return { format: "bitwarden_json", items: await readBitwarden(text, texts) };
}

function countPathSegments(name: string): number {
  return name.split("/").length;
}

async function readArchive(
  archive: Archive,
  texts: ImportTexts,
  exitIdentity: string | undefined,
): Promise<CollectedFile> {
  // an attachment may have that name too
  const [dataPath] = archive.names
    .filter((name) => /(?:^|\/)data\.json$/.test(name))
    .toSorted((left, right) => countPathSegments(left) - countPathSegments(right));
  if (archive.names.includes("export.data"))
    return { format: "onepassword_1pux", items: await readOnePassword(archive, texts) };
  if (archive.names.includes("manifest.json"))
    return { format: "relicario_export", items: await readOwnArchive(archive, texts, exitIdentity) };
  if (dataPath === undefined)
    throw new ImportRefusedError(archive.names.some((name) => name.endsWith(".pgp")) ? "encrypted" : "unknown_format");
  const data = await archive.read(dataPath, maxTextBytes);
  if (data === null) throw new ImportRefusedError("damaged");
  const text = new TextDecoder().decode(data);
  const folder = dataPath.slice(0, -"data.json".length);
  if ("vaults" in parseJsonAs(z.record(z.string(), z.unknown()), text)) {
    return {
      format: "proton_pass",
      items: await readProton(text, texts, (collector, name, location) =>
        readAttachment(archive, collector, `${folder}files/${name}`, location),
      ),
    };
  }
  const paths = archive.names.flatMap((name) => (name.startsWith(folder) ? [name.slice(folder.length)] : []));
  return {
    format: "bitwarden_json",
    items: await readBitwarden(text, texts, {
      paths,
      read: (collector, path, location) => readAttachment(archive, collector, folder + path, location),
    }),
  };
}
