import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { rootFolder } from "../paths.ts";
import { copyBillOfMaterials } from "../release/bill-of-materials.ts";
import { compressFolder, isPrecompressed } from "../release/compress.ts";
import { listFiles } from "../release/files.ts";
import { computeFileIntegrity } from "../release/integrity.ts";

const hostFilesElement = /(<script\b[^>]*\bid="?host-files"?[^>]*>)[^<]*(<\/script>)/;
const assetTag = /<(script|link)\b(?=[^>]*\b(?:src|href)=["']?(\/static\/[^\s"'>]+))/g;

/** A script that the page begins with, which webpack gives no hash. */
const entryScript = /^(\w+)\.js$/;

/**
 * Puts what webpack built of the host beside its other files into `target`, a new folder, ready to
 * be served.
 */
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
  await compressFolder(target);
}

/**
 * Gives the scripts that the page begins with their hash in their names, as all others have it.
 * Names the hashes of a built host in its page, for its scripts and styles and for all code that
 * they load later, and publishes them beside it as `host-files.json`, so that anybody can compare
 * them with a build of their own.
 */
export function hashHostFiles(folder: string): void {
  hashEntryNames(folder);
  const files = Object.fromEntries(
    listFiles(join(folder, "static"))
      .filter((file) => /\.(js|css)$/.test(file) && !isPrecompressed(file))
      .map((file) => [`/static/${file}`, computeFileIntegrity(join(folder, "static", file))]),
  );
  const page = readFileSync(join(folder, "index.html"), "utf8");
  if (!hostFilesElement.test(page))
    throw new Error('the host\'s page has no <script type="application/json" id="host-files">');
  const pageWithIntegrity = page.replace(assetTag, (match, _name, path: string) => {
    const integrity = files[path];
    if (integrity === undefined) throw new Error(`the host's page names ${path}, which was not built`);
    return `${match} integrity="${integrity}" crossorigin="anonymous"`;
  });
  writeFileSync(
    join(folder, "index.html"),
    pageWithIntegrity.replace(
      hostFilesElement,
      (_all, open: string, close: string) => `${open}${JSON.stringify(files)}${close}`,
    ),
  );
  writeFileSync(join(folder, "host-files.json"), `${JSON.stringify(files, null, 2)}\n`);
}

function hashEntryNames(folder: string): void {
  const pageFile = join(folder, "index.html");
  for (const file of readdirSync(join(folder, "static"))) {
    const [, name] = entryScript.exec(file) ?? [];
    if (name === undefined) continue;
    const script = join(folder, "static", file);
    const hashedName = `${name}.${createHash("sha256").update(readFileSync(script)).digest("hex").slice(0, 8)}.js`;
    renameSync(script, join(folder, "static", hashedName));
    writeFileSync(pageFile, readFileSync(pageFile, "utf8").replaceAll(`/static/${file}`, `/static/${hashedName}`));
  }
}
