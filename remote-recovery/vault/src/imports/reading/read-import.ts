import type { ImportFormat, ImportReadOptions, ImportReadResult } from "@relicario/shared/contract";

import { isAegis, readAegis } from "./aegis.ts";
import { isBitwarden, readBitwarden } from "./bitwarden.ts";
import { hasKnownColumns, readCsv } from "./csv.ts";
import { decodeText, parseJson, removeInvisibleEnds } from "./decode.ts";
import { isEnpass, readEnpass } from "./enpass.ts";
import { readGzip } from "./gzip.ts";
import { ImportQuestion } from "./import-question.ts";
import { ImportRefusedError } from "./import-refused-error.ts";
import { getImportTexts, type ImportTexts } from "./import-texts.ts";
import { ItemCollector } from "./item-collector.ts";
import { isKdbx, openKdbx } from "./kdbx.ts";
import { readKeepass } from "./keepass.ts";
import { isKeeper, readKeeper } from "./keeper.ts";
import { maxAttachmentBytes, maxPackings, maxTextBytes } from "./limits.ts";
import { isOnePassword, readAttachment, readOnePassword } from "./onepassword.ts";
import { isOtpAddresses, readOtpAddresses } from "./otp-addresses.ts";
import { readOwnArchive } from "./own-archive.ts";
import { readProton } from "./proton.ts";
import { isTextFile, readTextFiles, type ChosenFile } from "./text-files.ts";
import { findUnreadable, findUnreadableArchive, findUnreadableJson } from "./unreadable.ts";
import { parseXml } from "./xml.ts";
import { openZip, type Archive } from "./zip.ts";

export type ReadImportOptions = Omit<ImportReadOptions, "signal" | "onProgress">;

/**
 * Reads the chosen files: one file by its content, whatever its name, or the text files of a
 * folder.
 */
export async function readImport(files: readonly ChosenFile[], options: ReadImportOptions): Promise<ImportReadResult> {
  try {
    const { format, collector } = await readItems(files, getImportTexts(options.language), options);
    const { items, failures, leftOut } = collector;
    return { status: "read", format, items, failures, leftOut: [...leftOut] };
  } catch (error) {
    if (error instanceof ImportQuestion) return error.question;
    if (error instanceof ImportRefusedError) return error.refusal;
    throw error;
  }
}

interface CollectedFile {
  readonly format: ImportFormat;
  readonly collector: ItemCollector;
}

async function readItems(
  files: readonly ChosenFile[],
  texts: ImportTexts,
  options: ReadImportOptions,
  packings = 0,
): Promise<CollectedFile> {
  const [file] = files;
  if (file === undefined) throw new ImportRefusedError("unknown_format");
  const head = new Uint8Array(await file.content.slice(0, 512).arrayBuffer());
  const isArchive = isZip(head);
  if (
    files.length > 1 ||
    file.path.includes("/") ||
    (isTextFile(file) && !isArchive && !isKdbx(head) && !(await isExport(file.content, options.encoding)))
  )
    return { format: "text_files", collector: await readTextFiles(files, texts, options.encoding) };
  if (isArchive) return readArchive(await openZip(file.content), texts, options, packings);
  if (head[0] === 0x1f && head[1] === 0x8b) return readPacked(file, texts, options, packings);
  if (isKdbx(head)) {
    if (file.content.size > maxTextBytes) throw new ImportRefusedError("too_large");
    const { document, binaries } = await openKdbx(new Uint8Array(await file.content.arrayBuffer()), options.password);
    return { format: "keepass_kdbx", collector: await readKeepass(document, texts, binaries) };
  }
  const unreadable = findUnreadable(head);
  if (unreadable !== null) throw new ImportRefusedError({ unreadable });
  const { text, hasReplacedBytes } = await decodeText(file.content, options.encoding);
  const collected = await readText(removeInvisibleEnds(text), texts, options);
  if (hasReplacedBytes) collected.collector.reportReplacedBytes();
  return collected;
}

/** Whether a file starts like a ZIP archive, an empty one, or one that was split. */
function isZip([first, second, third, fourth]: Uint8Array): boolean {
  if (first !== 0x50 || second !== 0x4b) return false;
  return [3, 5, 7].some((sign) => third === sign && fourth === sign + 1) || (third === 0x30 && fourth === 0x30);
}

/** Reads a file that was packed by gzip. */
async function readPacked(
  { path, content }: ChosenFile,
  texts: ImportTexts,
  options: ReadImportOptions,
  packings: number,
): Promise<CollectedFile> {
  if (content.size > maxTextBytes) throw new ImportRefusedError("too_large");
  const bytes = await readGzip(new Uint8Array(await content.arrayBuffer()), maxTextBytes);
  if (bytes === null || packings >= maxPackings) throw new ImportRefusedError("damaged");
  const name = path.replace(/\.gz$/i, "");
  return readItems([{ path: name, content: new Blob([bytes]) }], texts, options, packings + 1);
}

/** Whether a file with the name of a text file is a program's export. */
async function isExport(content: Blob, encoding: string | undefined): Promise<boolean> {
  if (content.size > maxTextBytes) return false;
  const text = removeInvisibleEnds((await decodeText(content, encoding)).text);
  const trimmed = text.trimStart();
  if (trimmed.startsWith("<")) return isKeepassXml(trimmed);
  if (isOtpAddresses(trimmed)) return true;
  if (!/^[{[]/.test(trimmed)) return hasKnownColumns(text);
  try {
    const root = parseJson(text);
    return findUnreadableJson(root) !== null || (isRecord(root) && isKnownJson(root));
  } catch (error) {
    if (error instanceof ImportRefusedError) return false; // not JSON: a note may begin with a bracket
    throw error;
  }
}

function isKeepassXml(text: string): boolean {
  return /<KeePassFile[\s/>]/.test(text);
}

function isKnownJson(root: Readonly<Record<string, unknown>>): boolean {
  return (
    Object.hasOwn(root, "vaults") || [isOnePassword, isAegis, isKeeper, isEnpass, isBitwarden].some((is) => is(root))
  );
}

/** Detects the format by features that only one program writes. */
async function readText(text: string, texts: ImportTexts, options: ReadImportOptions): Promise<CollectedFile> {
  const trimmed = text.trimStart();
  if (trimmed.startsWith("<")) {
    if (!isKeepassXml(trimmed)) throw new ImportRefusedError("unknown_format");
    const document = parseXml(trimmed);
    return { format: "keepass_xml", collector: await readKeepass(document, texts) };
  }
  if (isOtpAddresses(trimmed)) return { format: "otp_addresses", collector: readOtpAddresses(text, texts) };
  return /^[{[]/.test(trimmed) ? readJson(text, texts) : readCsv(text, texts, options);
}

interface ArchiveFiles {
  readonly archive: Archive;
  /** Folder of the JSON in the archive. */
  readonly folder: string;
}

/** @param files the archive that contains the JSON; null for a single JSON file */
async function readJson(text: string, texts: ImportTexts, files: ArchiveFiles | null = null): Promise<CollectedFile> {
  const root = parseJson(text);
  const unreadable = findUnreadableJson(root);
  if (unreadable !== null) throw new ImportRefusedError({ unreadable });
  if (!isRecord(root)) throw new ImportRefusedError("unknown_format");
  const readFile = (collector: ItemCollector, path: string, location: string): Promise<Blob | null> =>
    files === null ? Promise.resolve(null) : readAttachment(files.archive, collector, files.folder + path, location);
  if (Object.hasOwn(root, "vaults"))
    return {
      format: "proton_pass",
      collector: await (files === null
        ? readProton(root, texts)
        : readProton(root, texts, (collector, name, location) => readFile(collector, `files/${name}`, location))),
    };
  if (isOnePassword(root))
    return {
      format: "onepassword_1pux",
      collector: await readOnePassword(root, texts, files?.archive ?? null),
    };
  if (isAegis(root)) return { format: "aegis_json", collector: readAegis(root, texts) };
  if (isKeeper(root)) return { format: "keeper_json", collector: readKeeper(root, texts) };
  if (isEnpass(root)) return { format: "enpass_json", collector: readEnpass(root, texts) };
  if (!isBitwarden(root)) throw new ImportRefusedError("unknown_format");
  const { archive, folder } = files ?? { archive: null, folder: "" };
  const paths = archive?.names.flatMap((name) => (name.startsWith(folder) ? [name.slice(folder.length)] : []));
  return {
    format: "bitwarden_json",
    collector: await readBitwarden(root, texts, { paths: paths ?? [], read: readFile }),
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function countPathSegments(name: string): number {
  return name.split("/").length;
}

async function readArchive(
  archive: Archive,
  texts: ImportTexts,
  options: ReadImportOptions,
  packings: number,
): Promise<CollectedFile> {
  if (archive.names.includes("manifest.json") && !archive.names.includes("export.data"))
    return { format: "relicario_export", collector: await readOwnArchive(archive, texts, options.exitIdentity) };
  // an attachment may have the same name
  const [dataPath] = archive.names
    .filter((name) => /(?:^|\/)data\.json$/.test(name))
    .toSorted((left, right) => countPathSegments(left) - countPathSegments(right));
  const jsonPath = archive.names.includes("export.data") ? "export.data" : dataPath;
  if (jsonPath !== undefined) {
    const folder = jsonPath.replace(/[^/]*$/, "");
    const { text, hasReplacedBytes } = await readArchivedText(archive, jsonPath, options);
    const collected = await readJson(removeInvisibleEnds(text), texts, { archive, folder });
    if (hasReplacedBytes) collected.collector.reportReplacedBytes();
    return collected;
  }
  const names = archive.names.filter((name) => !systemFile.test(name));
  const tables = names.filter((name) => /\.csv$/i.test(name));
  if (tables.length > 0) return readTables(archive, names, tables, texts, options);
  if (names.some((name) => name.endsWith(".pgp"))) throw new ImportRefusedError("encrypted");
  const unreadable = findUnreadableArchive(names);
  if (unreadable !== null) throw new ImportRefusedError({ unreadable });
  return readArchivedFiles(archive, names, texts, options, packings);
}

/** What systems add to an archive or folder. */
const systemFile = /(?:^|\/)(?:__MACOSX\/|\._|\.DS_Store$|Thumbs\.db$|desktop\.ini$)/i;

/** One export that was packed, or a folder of notes. */
async function readArchivedFiles(
  archive: Archive,
  names: readonly string[],
  texts: ImportTexts,
  options: ReadImportOptions,
  packings: number,
): Promise<CollectedFile> {
  const [first] = names;
  const isFolder = names.length > 1 && names.some((path) => isTextFile({ path, content: new Blob() }));
  if (first === undefined || (names.length > 1 && !isFolder) || packings >= maxPackings)
    throw new ImportRefusedError("unknown_format");
  const files = await Promise.all(
    names.map(async (path) => {
      const isRead = !isFolder || isTextFile({ path, content: new Blob() });
      return { path, content: new Blob([(isRead ? await archive.read(path, maxAttachmentBytes) : null) ?? ""]) };
    }),
  );
  if (isFolder) return { format: "text_files", collector: await readTextFiles(files, texts, options.encoding) };
  const path = first.replace(/^.*\//s, "");
  return readItems(
    files.map(({ content }) => ({ path, content })),
    texts,
    options,
    packings + 1,
  );
}

async function readArchivedText(
  archive: Archive,
  name: string,
  { encoding }: ReadImportOptions,
): Promise<Awaited<ReturnType<typeof decodeText>>> {
  const data = await archive.read(name, maxTextBytes);
  if (data === null) throw new ImportRefusedError("damaged");
  return decodeText(new Blob([data]), encoding);
}

/**
 * Reads an archive of tables, as Dashlane writes it: one per kind of entry. Reports other files.
 */
async function readTables(
  archive: Archive,
  names: readonly string[],
  tables: readonly string[],
  texts: ImportTexts,
  options: ReadImportOptions,
): Promise<CollectedFile> {
  const all = new ItemCollector("dashlane_csv", texts);
  for (const name of names) {
    if (!tables.includes(name)) {
      all.addFailure(name, "damaged");
      continue;
    }
    try {
      const { text, hasReplacedBytes } = await readArchivedText(archive, name, options);
      if (text.trim() === "") continue;
      const { collector } = readCsv(removeInvisibleEnds(text), texts, { guessesColumns: true });
      if (hasReplacedBytes) collector.reportReplacedBytes();
      all.append(collector, name);
    } catch (error) {
      if (!(error instanceof ImportRefusedError)) throw error;
      all.addFailure(name, error.reason === "too_large" ? "too_large" : "damaged");
    }
  }
  if (all.items.length === 0) throw new ImportRefusedError("unknown_format");
  return { format: "dashlane_csv", collector: all };
}
