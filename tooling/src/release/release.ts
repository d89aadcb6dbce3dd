/**
 * Makes a release of a remote: an immutable folder named by its files, and `release.json`, which
 * lists the hash of every file and is signed by the remote's team. The same sources give the same
 * release.
 */
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import {
  languages,
  ReleaseRecord,
  RemoteManifest,
  type ReleaseOverride,
  type RemoteName,
} from "@relicario/shared/contract";
import { CompactSign, compactVerify, decodeProtectedHeader, importJWK } from "jose";
import { z } from "zod";

import type { SigningKey } from "../keys/development-keys.ts";
import { copyBillOfMaterials } from "./bill-of-materials.ts";
import { compressFolder, isEncodedForm } from "./compress.ts";
import { filesBelow } from "./files.ts";
import { integrityOfFile } from "./integrity.ts";

export interface ReleaseSources {
  readonly remote: RemoteName;
  /**
   * Folder of the remote's package: `manifest.json`, `package.json`, `src/locales`, and `dist`,
   * where releases go.
   */
  readonly packageFolder: string;
  /** What webpack made. */
  readonly webFolder: string;
  readonly key: SigningKey;
}

export interface Release {
  readonly record: ReleaseRecord;
  /** `release.json`: the record, signed. */
  readonly jws: string;
  readonly folder: string;
}

const federationFile = "mf-manifest.json";
/** Of what webpack made, what no release has. */
export const notReleased = (path: string) =>
  path.endsWith(".map") || path === federationFile || path === "mf-stats.json";
/** Releases before the present one that stay, for sessions that started with them. */
const kept = 2;

/** Makes the release, or finds that it is there already, and notes it as the present one. */
export async function makeRelease({ remote, packageFolder, webFolder, key }: ReleaseSources): Promise<Release> {
  const dist = join(packageFolder, "dist");
  const part = join(dist, `.part-${String(process.pid)}`);
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });

  cpSync(webFolder, part, { recursive: true, filter: (source) => !notReleased(source.slice(webFolder.length + 1)) });
  const locales = join(packageFolder, "src/locales");
  if (existsSync(locales))
    cpSync(locales, join(part, "locales"), { recursive: true, filter: (source) => !source.includes(".test.") });
  copyBillOfMaterials(packageFolder, part);
  // A file like the others: what a remote says of itself is part of what names its release.
  cpSync(join(packageFolder, "manifest.json"), join(part, "manifest.json"));

  const record = recordOf({ remote, packageFolder, webFolder }, integrityOfFiles(part));
  const { release } = record;
  const folder = join(dist, release);
  const jws = await signCompact(record, key);
  if (existsSync(folder)) {
    rmSync(part, { recursive: true });
    // The same files, signed by a key that this machine no longer has.
    if ((await openRecord(readFileSync(join(folder, "release.json"), "utf8"), key)) === null)
      writeFileSync(join(folder, "release.json"), jws);
  } else {
    await compressFolder(part);
    writeFileSync(join(part, "release.json"), jws);
    renameSync(part, folder);
  }
  writeFileSync(join(dist, "current"), `${release}\n`);
  removeOld(dist, release);
  return { record, jws: readFileSync(join(folder, "release.json"), "utf8"), folder };
}

/**
 * What a release says of itself.
 * @param files hashes of its files, by their paths
 * @param hash 12 hex digits that end its name
 */
export function recordOf(
  { remote, packageFolder, webFolder }: Omit<ReleaseSources, "key">,
  files: Readonly<Record<string, string>>,
  hash: string = hashOfList(files),
): ReleaseRecord {
  const manifest = readManifest(readFileSync(join(packageFolder, "manifest.json"), "utf8"), remote, files);
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8")));
  return ReleaseRecord.parse({
    v: 1,
    release: `${remote}-${version}-${hash}`,
    version,
    manifest,
    files,
    federation: ReleaseRecord.shape.federation.parse(JSON.parse(readFileSync(join(webFolder, federationFile), "utf8"))),
  } satisfies z.input<typeof ReleaseRecord>);
}

/**
 * The present release of a package, or null when none was made, or its signature is not of this
 * key, or a file is missing.
 */
export async function presentRelease(packageFolder: string, key: SigningKey): Promise<Release | null> {
  const dist = join(packageFolder, "dist");
  if (!existsSync(join(dist, "current"))) return null;
  const folder = join(dist, readFileSync(join(dist, "current"), "utf8").trim());
  if (!existsSync(join(folder, "release.json"))) return null;
  const jws = readFileSync(join(folder, "release.json"), "utf8");
  const record = await openRecord(jws, key);
  if (record === null || !Object.keys(record.files).every((file) => existsSync(join(folder, file)))) return null;
  return { record, jws, folder };
}

/** The record of a JWS that this key signed; null for another's. */
export async function openRecord(jws: string, key: SigningKey): Promise<ReleaseRecord | null> {
  if (decodeProtectedHeader(jws).kid !== key.publicKey.kid) return null;
  const { payload } = await compactVerify(jws, await importJWK(key.publicKey, "EdDSA"), { algorithms: ["EdDSA"] });
  return ReleaseRecord.parse(JSON.parse(new TextDecoder().decode(payload)));
}

/** Signs as a team does, a record for `release.json` or an override: JWS compact, EdDSA. */
export function signCompact(payload: ReleaseOverride | ReleaseRecord, key: SigningKey): Promise<string> {
  return new CompactSign(new TextEncoder().encode(JSON.stringify(payload)))
    .setProtectedHeader({ alg: "EdDSA", kid: key.publicKey.kid })
    .sign(key.privateKey);
}

function integrityOfFiles(folder: string): Record<string, string> {
  const files = filesBelow(folder).filter((file) => !isEncodedForm(file));
  return Object.fromEntries(files.map((file) => [file, integrityOfFile(join(folder, file))]));
}

/**
 * First 12 hex digits of the SHA-256 over `<path> <integrity>\n` of each file, in the order of
 * their paths.
 */
function hashOfList(files: Readonly<Record<string, string>>): string {
  const list = Object.entries(files).map(([path, integrity]) => `${path} ${integrity}\n`);
  return createHash("sha256").update(list.join("")).digest("hex").slice(0, 12);
}

/**
 * The manifest, when it is this remote's and names the texts that the release carries, no more and
 * no fewer.
 */
function readManifest(text: string, remote: RemoteName, files: Readonly<Record<string, string>>): RemoteManifest {
  const parsed = RemoteManifest.safeParse(JSON.parse(text));
  if (!parsed.success) throw new Error(`The manifest of ${remote} does not hold:\n${z.prettifyError(parsed.error)}`);
  const { name, namespaces } = parsed.data;
  if (name !== remote) throw new Error(`The manifest of ${remote} says that it is ${name}.`);
  const wanted = namespaces.flatMap((namespace) =>
    languages.map((language) => `locales/${language}/${namespace}.json`),
  );
  const carried = Object.keys(files).filter((file) => file.startsWith("locales/"));
  const lacking = wanted.filter((file) => !carried.includes(file));
  const unnamed = carried.filter((file) => !wanted.includes(file));
  if (lacking.length > 0)
    throw new Error(`${remote} names namespaces without texts: ${lacking.join(", ")} is missing.`);
  if (unnamed.length > 0)
    throw new Error(`The manifest of ${remote} does not name the namespace of ${unnamed.join(", ")}.`);
  return parsed.data;
}

function removeOld(dist: string, present: string): void {
  const older = readdirSync(dist, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== present && !entry.name.startsWith("."))
    .map(({ name }) => ({ name, made: statSync(join(dist, name)).mtimeMs }))
    .sort((a, b) => b.made - a.made);
  for (const { name } of older.slice(kept)) rmSync(join(dist, name), { recursive: true, force: true });
}
