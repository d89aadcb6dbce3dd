/**
 * `pnpm release:keep`, before a release: keeps its service in `api/released`, as one file, with the
 * schema that it knows. The next release's tests run it on their schema.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { build } from "esbuild";
import { z } from "zod";

import { rootFolder } from "../paths.ts";

const maxBytes = 5_000_000;
const apiFolder = join(rootFolder, "api");
const migrationsFolder = join(apiFolder, "src/db/migrations");
const Journal = z.object({ entries: z.array(z.object({ tag: z.string() })) });
const Package = z.object({ version: z.string() });

const {
  outputFiles: [bundle],
} = await build({
  entryPoints: [join(apiFolder, "src/main.ts")],
  bundle: true,
  write: false,
  minify: true,
  platform: "node",
  target: "node24",
  format: "esm",
  legalComments: "none",
  external: ["pg-native"],
  // packages of CommonJS use these
  banner: {
    js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url); const __filename = import.meta.filename, __dirname = import.meta.dirname;',
  },
});
if (bundle === undefined) throw new Error("esbuild wrote nothing");
const compressed = gzipSync(bundle.contents, { level: 9 });
if (compressed.length > maxBytes) throw new Error(`the service has ${String(compressed.length)} bytes`);

const { entries } = Journal.parse(readJson(join(migrationsFolder, "meta/_journal.json")));
const digest = createHash("sha256");
for (const { tag } of entries) digest.update(readFileSync(join(migrationsFolder, `${tag}.sql`)));
const { version } = Package.parse(readJson(join(apiFolder, "package.json")));
const schema = { version, migrations: entries.length, sha256: digest.digest("hex") };

const folder = join(apiFolder, "released");
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "service.mjs.gz"), compressed);
writeFileSync(join(folder, "schema.json"), `${JSON.stringify(schema, null, 2)}\n`);
console.log(
  `Kept the service of ${version} (${String(compressed.length)} bytes, ${String(entries.length)} migrations).`,
);

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, "utf8"));
}
