import type { ImportFormat, Language, ReadImport } from "@relicario/shared/contract";
import { z } from "zod";

import { readBitwarden } from "./bitwarden.ts";
import { readCsv } from "./csv.ts";
import { jsonOf, textOf } from "./decode.ts";
import type { Items } from "./items.ts";
import { readKeepass } from "./keepass.ts";
import { maxTextBytes } from "./limits.ts";
import { readFile, readOnePassword } from "./onepassword.ts";
import { readOwnArchive } from "./own-archive.ts";
import { readProton } from "./proton.ts";
import { Refused } from "./refused.ts";
import { isTextFile, readTextFiles, type GivenFile } from "./text-files.ts";
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
  files: readonly GivenFile[],
  { language, exitIdentity }: ReadSettings,
): Promise<ReadImport> {
  try {
    const { format, items } = await itemsOf(files, wordsIn(language), exitIdentity);
    return { status: "read", format, items: items.items, failures: items.failures };
  } catch (error) {
    if (error instanceof Refused) return { status: "refused", reason: error.reason };
    throw error;
  }
}

interface ReadFile {
  readonly format: ImportFormat;
  readonly items: Items;
}

async function itemsOf(files: readonly GivenFile[], words: Words, exitIdentity: string | undefined): Promise<ReadFile> {
  const [file] = files;
  if (file === undefined) throw new Refused("unknown_format");
  if (files.length > 1 || file.path.includes("/") || isTextFile(file))
    return { format: "text_files", items: await readTextFiles(files, words) };
  const [first, second] = new Uint8Array(await file.content.slice(0, 2).arrayBuffer());
  if (first === 0x50 && second === 0x4b) return fromArchive(await openZip(file.content), words, exitIdentity);
  const text = await textOf(file.content);
  const begin = text.trimStart();
  if (begin.startsWith("<")) return { format: "keepass_xml", items: await readKeepass(begin, words) };
  if (!begin.startsWith("{")) return readCsv(text, words);
  const members = jsonOf(z.record(z.string(), z.unknown()), text);
  if ("vaults" in members) return { format: "proton_pass", items: await readProton(text, words) };
  return { format: "bitwarden_json", items: await readBitwarden(text, words) };
}

function depthOf(name: string): number {
  return name.split("/").length;
}

async function fromArchive(archive: Archive, words: Words, exitIdentity: string | undefined): Promise<ReadFile> {
  const [found] = archive.names
    .filter((name) => /(?:^|\/)data\.json$/.test(name))
    .toSorted((one, other) => depthOf(one) - depthOf(other)); // an attachment may have that name too
  if (archive.names.includes("export.data"))
    return { format: "onepassword_1pux", items: await readOnePassword(archive, words) };
  if (archive.names.includes("manifest.json"))
    return { format: "relicario_export", items: await readOwnArchive(archive, words, exitIdentity) };
  if (found === undefined)
    throw new Refused(archive.names.some((name) => name.endsWith(".pgp")) ? "encrypted" : "unknown_format");
  const data = await archive.read(found, maxTextBytes);
  if (data === null) throw new Refused("damaged");
  const text = new TextDecoder().decode(data);
  const folder = found.slice(0, -"data.json".length);
  if ("vaults" in jsonOf(z.record(z.string(), z.unknown()), text)) {
    return {
      format: "proton_pass",
      items: await readProton(text, words, (items, name, place) =>
        readFile(archive, items, `${folder}files/${name}`, place),
      ),
    };
  }
  const paths = archive.names.flatMap((name) => (name.startsWith(folder) ? [name.slice(folder.length)] : []));
  return {
    format: "bitwarden_json",
    items: await readBitwarden(text, words, {
      paths,
      read: (items, path, place) => readFile(archive, items, folder + path, place),
    }),
  };
}
