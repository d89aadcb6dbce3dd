import { hash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { rootFolder } from "../paths.ts";
import { copyBillOfMaterials } from "../release/bill-of-materials.ts";
import { compressFolder, isPrecompressed } from "../release/compress.ts";
import { listFiles } from "../release/files.ts";
import { computeFileIntegrity } from "../release/integrity.ts";

const hostFilesElement = /(<script\b[^>]*\bid="?host-files"?[^>]*>)[^<]*(<\/script>)/;
const assetTag = /<(script|link)\b(?=[^>]*\b(?:src|href)=["']?(\/static\/[^\s"'>]+))/g;

/** An entry's script or style, which webpack names without a hash. */
const entryFile = /^(\w+)\.(js|css)$/;

/** Assembles the served files of the host in `target`, a new folder. */
export async function assembleHost(webFolder: string, target: string): Promise<void> {
  const host = join(rootFolder, "host");
  mkdirSync(target, { recursive: true });
  cpSync(webFolder, target, { recursive: true, filter: (source) => !source.endsWith(".map") });
  for (const [from, to] of [
    ["public", "."],
    ["src/locales", "locales"],
  ] as const) {
    if (existsSync(join(host, from)))
      cpSync(join(host, from), join(target, to), { recursive: true, filter: (source) => !source.includes(".test.") });
  }
  copyBillOfMaterials(host, target);
  hashHostFiles(target);
  for (const page of ["controller.html", "element.html"]) hashPageFiles(join(target, "vault"), page);
  await compressFolder(target);
}

/**
 * Adds hashes to the names of entry scripts, and integrity to the page's scripts and styles. Lists
 * all hashes in the page and in `host-files.json`, so that anyone can compare them with their own
 * build.
 */
export function hashHostFiles(folder: string): void {
  const files = hashPageFiles(folder, "index.html");
  const page = readFileSync(join(folder, "index.html"), "utf8");
  if (!hostFilesElement.test(page))
    throw new Error('the host\'s page has no <script type="application/json" id="host-files">');
  writeFileSync(
    join(folder, "index.html"),
    page.replace(hostFilesElement, (_all, open: string, close: string) => `${open}${JSON.stringify(files)}${close}`),
  );
  writeFileSync(join(folder, "host-files.json"), `${JSON.stringify(files, null, 2)}\n`);
}

/**
 * Adds hashes to the names of a page's entry files in `static`, and integrity to its scripts and
 * styles. Returns the integrity of each script and style by its path.
 */
function hashPageFiles(folder: string, pageName: string): Readonly<Record<string, string>> {
  const pageFile = join(folder, pageName);
  hashEntryNames(folder, pageFile);
  const files = Object.fromEntries(
    listFiles(join(folder, "static"))
      .filter((file) => /\.(js|css)$/.test(file) && !isPrecompressed(file))
      .map((file) => [`/static/${file}`, computeFileIntegrity(join(folder, "static", file))]),
  );
  const page = readFileSync(pageFile, "utf8");
  writeFileSync(
    pageFile,
    page.replace(assetTag, (match, _name, path: string) => {
      const integrity = files[path];
      if (integrity === undefined) throw new Error(`the page names ${path}, which was not built`);
      return `${match} integrity="${integrity}" crossorigin="anonymous"`;
    }),
  );
  return files;
}

function hashEntryNames(folder: string, pageFile: string): void {
  for (const file of readdirSync(join(folder, "static"))) {
    const [, name, type] = entryFile.exec(file) ?? [];
    const page = readFileSync(pageFile, "utf8");
    if (name === undefined || type === undefined || !page.includes(`/static/${file}`)) continue;
    const entry = join(folder, "static", file);
    const hashedName = `${name}.${hash("sha256", readFileSync(entry), "hex").slice(0, 8)}.${type}`;
    renameSync(entry, join(folder, "static", hashedName));
    writeFileSync(pageFile, page.replaceAll(`/static/${file}`, `/static/${hashedName}`));
  }
}
