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

import type { SigningKeyPair } from "../keys/development-keys.ts";
import { copyBillOfMaterials } from "./bill-of-materials.ts";
import { compressFolder, isPrecompressed } from "./compress.ts";
import { listFiles } from "./files.ts";
import { computeFileIntegrity } from "./integrity.ts";

export interface ReleaseSources {
  readonly remote: RemoteName;
  /**
   * Folder of the remote's package: `manifest.json`, `package.json`, `src/locales`, and `dist`,
   * where releases go.
   */
  readonly packageFolder: string;
  /** What webpack made. */
  readonly webFolder: string;
  readonly key: SigningKeyPair;
}

export interface Release {
  readonly record: ReleaseRecord;
  /** `release.json`: the record, signed. */
  readonly jws: string;
  readonly folder: string;
}

const federationFile = "mf-manifest.json";
/** Of what webpack made, what no release has. */
export const isExcludedFromRelease = (path: string) =>
  path.endsWith(".map") || path === federationFile || path === "mf-stats.json";
/** Releases before the present one that stay, for sessions that started with them. */
const retainedReleaseCount = 2;

/** Makes the release, or finds that it is there already, and notes it as the present one. */
export async function makeRelease({
  remote,
  packageFolder,
  webFolder,
  key: keyPair,
}: ReleaseSources): Promise<Release> {
  const dist = join(packageFolder, "dist");
  const stagingFolder = join(dist, `.part-${String(process.pid)}`);
  rmSync(stagingFolder, { recursive: true, force: true });
  mkdirSync(stagingFolder, { recursive: true });

  cpSync(webFolder, stagingFolder, {
    recursive: true,
    filter: (source) => !isExcludedFromRelease(source.slice(webFolder.length + 1)),
  });
  const locales = join(packageFolder, "src/locales");
  if (existsSync(locales))
    cpSync(locales, join(stagingFolder, "locales"), {
      recursive: true,
      filter: (source) => !source.includes(".test."),
    });
  copyBillOfMaterials(packageFolder, stagingFolder);
  // A file like the others: what a remote says of itself is part of what names its release.
  cpSync(join(packageFolder, "manifest.json"), join(stagingFolder, "manifest.json"));

  const record = createReleaseRecord({ remote, packageFolder, webFolder }, computeIntegrities(stagingFolder));
  const { release } = record;
  const folder = join(dist, release);
  const jws = await signCompact(record, keyPair);
  if (existsSync(folder)) {
    rmSync(stagingFolder, { recursive: true });
    // The same files, signed by a key that this machine no longer has.
    if ((await verifyReleaseRecord(readFileSync(join(folder, "release.json"), "utf8"), keyPair)) === null)
      writeFileSync(join(folder, "release.json"), jws);
  } else {
    await compressFolder(stagingFolder);
    writeFileSync(join(stagingFolder, "release.json"), jws);
    renameSync(stagingFolder, folder);
  }
  writeFileSync(join(dist, "current"), `${release}\n`);
  removeOldReleases(dist, release);
  return { record, jws: readFileSync(join(folder, "release.json"), "utf8"), folder };
}

/**
 * What a release says of itself.
 * @param files hashes of its files, by their paths
 * @param hash 12 hex digits that end its name
 */
export function createReleaseRecord(
  { remote, packageFolder, webFolder }: Omit<ReleaseSources, "key">,
  files: Readonly<Record<string, string>>,
  hash: string = hashFileList(files),
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
export async function findCurrentRelease(packageFolder: string, keyPair: SigningKeyPair): Promise<Release | null> {
  const dist = join(packageFolder, "dist");
  if (!existsSync(join(dist, "current"))) return null;
  const folder = join(dist, readFileSync(join(dist, "current"), "utf8").trim());
  if (!existsSync(join(folder, "release.json"))) return null;
  const jws = readFileSync(join(folder, "release.json"), "utf8");
  const record = await verifyReleaseRecord(jws, keyPair);
  if (record === null || !Object.keys(record.files).every((file) => existsSync(join(folder, file)))) return null;
  return { record, jws, folder };
}

/** The record of a JWS that this key signed; null for another's. */
export async function verifyReleaseRecord(jws: string, keyPair: SigningKeyPair): Promise<ReleaseRecord | null> {
  if (decodeProtectedHeader(jws).kid !== keyPair.publicKey.kid) return null;
  const { payload } = await compactVerify(jws, await importJWK(keyPair.publicKey, "EdDSA"), { algorithms: ["EdDSA"] });
  return ReleaseRecord.parse(JSON.parse(new TextDecoder().decode(payload)));
}

/** Signs as a team does, a record for `release.json` or an override: JWS compact, EdDSA. */
export function signCompact(payload: ReleaseOverride | ReleaseRecord, keyPair: SigningKeyPair): Promise<string> {
  return new CompactSign(new TextEncoder().encode(JSON.stringify(payload)))
    .setProtectedHeader({ alg: "EdDSA", kid: keyPair.publicKey.kid })
    .sign(keyPair.privateKey);
}

function computeIntegrities(folder: string): Record<string, string> {
  const files = listFiles(folder).filter((file) => !isPrecompressed(file));
  return Object.fromEntries(files.map((file) => [file, computeFileIntegrity(join(folder, file))]));
}

/**
 * First 12 hex digits of the SHA-256 over `<path> <integrity>\n` of each file, in the order of
 * their paths.
 */
function hashFileList(files: Readonly<Record<string, string>>): string {
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
  const expected = namespaces.flatMap((namespace) =>
    languages.map((language) => `locales/${language}/${namespace}.json`),
  );
  const packaged = Object.keys(files).filter((file) => file.startsWith("locales/"));
  const missingTexts = expected.filter((file) => !packaged.includes(file));
  const undeclaredTexts = packaged.filter((file) => !expected.includes(file));
  if (missingTexts.length > 0)
    throw new Error(`${remote} names namespaces without texts: ${missingTexts.join(", ")} is missing.`);
  if (undeclaredTexts.length > 0)
    throw new Error(`The manifest of ${remote} does not name the namespace of ${undeclaredTexts.join(", ")}.`);
  return parsed.data;
}

function removeOldReleases(dist: string, currentRelease: string): void {
  const olderReleases = readdirSync(dist, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== currentRelease && !entry.name.startsWith("."))
    .map(({ name }) => ({ name, modifiedAt: statSync(join(dist, name)).mtimeMs }))
    .sort((a, b) => b.modifiedAt - a.modifiedAt);
  for (const { name } of olderReleases.slice(retainedReleaseCount))
    rmSync(join(dist, name), { recursive: true, force: true });
}
