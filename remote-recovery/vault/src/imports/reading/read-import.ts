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
import { wordsIn, type Words } from "./words.ts";
import { openZip, type Archive } from "./zip.ts";

export interface ReadSettings {
  readonly language: Language;
  readonly exitIdentity?: string;
}

/**
 * Reads what was chosen: one file by what is in it, whatever its name says, or the text files of a
 * folder.
 */
export async function readImport(
  files: readonly ChosenFile[],
  { language, exitIdentity }: ReadSettings,
): Promise<ImportReadResult> {
  try {
    const { format, items } = await readItems(files, wordsIn(language), exitIdentity);
    return { status: "read", format, items: items.items, failures: items.failures };
  } catch (error) {
    if (error instanceof ImportRefusedError) return { status: "refused", reason: error.reason };
    throw error;
  }
}

interface ParsedFile {
  readonly format: ImportFormat;
  readonly items: ItemCollector;
}

async function readItems(
  files: readonly ChosenFile[],
  words: Words,
  exitIdentity: string | undefined,
): Promise<ParsedFile> {
  const [file] = files;
  if (file === undefined) throw new ImportRefusedError("unknown_format");
  if (files.length > 1 || file.path.includes("/") || isTextFile(file))
    return { format: "text_files", items: await readTextFiles(files, words) };
  const [first, second] = new Uint8Array(await file.content.slice(0, 2).arrayBuffer());
  if (first === 0x50 && second === 0x4b) return readArchive(await openZip(file.content), words, exitIdentity);
  const text = await decodeText(file.content);
  const trimmed = text.trimStart();
  if (trimmed.startsWith("<")) return { format: "keepass_xml", items: await readKeepass(trimmed, words) };
  if (!trimmed.startsWith("{")) return readCsv(text, words);
  const members = parseJsonAs(z.record(z.string(), z.unknown()), text);
  if ("vaults" in members) return { format: "proton_pass", items: await readProton(text, words) };
  return { format: "bitwarden_json", items: await readBitwarden(text, words) };
}

function depthOf(name: string): number {
  return name.split("/").length;
}

async function readArchive(archive: Archive, words: Words, exitIdentity: string | undefined): Promise<ParsedFile> {
  const [dataPath] = archive.names
    .filter((name) => /(?:^|\/)data\.json$/.test(name))
    .toSorted((left, right) => depthOf(left) - depthOf(right)); // an attachment may have that name too
  if (archive.names.includes("export.data"))
    return { format: "onepassword_1pux", items: await readOnePassword(archive, words) };
  if (archive.names.includes("manifest.json"))
    return { format: "relicario_export", items: await readOwnArchive(archive, words, exitIdentity) };
  if (dataPath === undefined)
    throw new ImportRefusedError(archive.names.some((name) => name.endsWith(".pgp")) ? "encrypted" : "unknown_format");
  const data = await archive.read(dataPath, maxTextBytes);
  if (data === null) throw new ImportRefusedError("damaged");
  const text = new TextDecoder().decode(data);
  const folder = dataPath.slice(0, -"data.json".length);
  if ("vaults" in parseJsonAs(z.record(z.string(), z.unknown()), text)) {
    return {
      format: "proton_pass",
      items: await readProton(text, words, (items, name, place) =>
        readAttachment(archive, items, `${folder}files/${name}`, place),
      ),
    };
  }
  const paths = archive.names.flatMap((name) => (name.startsWith(folder) ? [name.slice(folder.length)] : []));
  return {
    format: "bitwarden_json",
    items: await readBitwarden(text, words, {
      paths,
      read: (items, path, place) => readAttachment(archive, items, folder + path, place),
    }),
  };
}
