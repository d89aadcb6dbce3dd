/**
 * Releases of a remote: immutable folders, named by the hash of their files. The team signs
 * `release.json`, which has the hash of every file. The same sources give the same release.
 */
import { hash } from "node:crypto";
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
import { findVersionProblems, ResolvedVersions, resolvedVersionsFile } from "@relicario/shared/webpack/versions";
import { CompactSign, compactVerify, decodeProtectedHeader, importJWK } from "jose";
import { z } from "zod";

import type { SigningKeyPair } from "../keys/signing-keys.ts";
import { UserFacingError } from "../user-facing-error.ts";
import { copyBillOfMaterials } from "./bill-of-materials.ts";
import { compressFolder, isPrecompressed } from "./compress.ts";
import { listFiles } from "./files.ts";
import { computeFileIntegrity } from "./integrity.ts";
import { findReleasedNavigationProblems } from "./navigation.ts";

export interface ReleaseSources {
  readonly remote: RemoteName;
  /** With `manifest.json`, `package.json`, `src/locales`, and `dist`, where releases go. */
  readonly packageFolder: string;
  /** Webpack's output. */
  readonly webFolder: string;
  readonly keyPair: SigningKeyPair;
}

export interface Release {
  readonly record: ReleaseRecord;
  /** Content of `release.json`: the signed record. */
  readonly jws: string;
  readonly folder: string;
}

const federationFile = "mf-manifest.json";
export const isExcludedFromRelease = (path: string) =>
  [federationFile, "mf-stats.json", resolvedVersionsFile].includes(path) || path.endsWith(".map");
/** Former releases that stay for sessions which started with them. */
const retainedReleaseCount = 2;

/** Marks the release as current; an existing one keeps its files. */
export async function makeRelease({ remote, packageFolder, webFolder, keyPair }: ReleaseSources): Promise<Release> {
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
  // Hashed, so that the release's name depends on the manifest too.
  cpSync(join(packageFolder, "manifest.json"), join(stagingFolder, "manifest.json"));

  const record = createReleaseRecord({ remote, packageFolder, webFolder }, computeIntegrities(stagingFolder));
  const navigationProblems = findReleasedNavigationProblems(record.manifest, stagingFolder);
  if (navigationProblems.length > 0)
    throw new UserFacingError(`${remote} is not released:\n  ${navigationProblems.join("\n  ")}`);
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
 * @param files hashes by path
 * @param nameSuffix 12 hex digits
 */
export function createReleaseRecord(
  { remote, packageFolder, webFolder }: Omit<ReleaseSources, "keyPair">,
  files: Readonly<Record<string, string>>,
  nameSuffix: string = hashFileList(files),
): ReleaseRecord {
  requireProvidedVersions(remote, webFolder);
  const manifest = readManifest(readFileSync(join(packageFolder, "manifest.json"), "utf8"), remote, files);
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8")));
  return ReleaseRecord.parse({
    v: 1,
    release: `${remote}-${version}-${nameSuffix}`,
    version,
    manifest,
    files,
    federation: ReleaseRecord.shape.federation.parse(JSON.parse(readFileSync(join(webFolder, federationFile), "utf8"))),
  } satisfies z.input<typeof ReleaseRecord>);
}

/** Null when there is no release, another key signed it, or a file is missing. */
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

/**
 * Null when another key signed it.
 *
 * @throws when its signature is invalid
 */
export async function verifyReleaseRecord(jws: string, keyPair: SigningKeyPair): Promise<ReleaseRecord | null> {
  if (decodeProtectedHeader(jws).kid !== keyPair.publicKey.kid) return null;
  const { payload } = await compactVerify(jws, await importJWK(keyPair.publicKey, "EdDSA"), { algorithms: ["EdDSA"] });
  return ReleaseRecord.parse(JSON.parse(new TextDecoder().decode(payload)));
}

/** Most characters that the host verifies (host/src/deployment/team-signature.ts). */
export const maxJwsLength = 65_000;

/** JWS compact, EdDSA. */
export async function signCompact(payload: ReleaseOverride | ReleaseRecord, keyPair: SigningKeyPair): Promise<string> {
  const jws = await new CompactSign(new TextEncoder().encode(JSON.stringify(payload)))
    .setProtectedHeader({ alg: "EdDSA", kid: keyPair.publicKey.kid })
    .sign(keyPair.privateKey);
  if (jws.length > maxJwsLength)
    throw new UserFacingError(
      `The signed record has ${String(jws.length)} characters; browsers verify ${String(maxJwsLength)}. Build fewer files.`,
    );
  return jws;
}

function computeIntegrities(folder: string): Record<string, string> {
  const files = listFiles(folder).filter((file) => !isPrecompressed(file));
  return Object.fromEntries(files.map((file) => [file, computeFileIntegrity(join(folder, file))]));
}

/** SHA-256 over `<path> <integrity>\n` of each file, in the order of paths; first 12 hex digits. */
export function hashFileList(files: Readonly<Record<string, string>>): string {
  const list = Object.entries(files).map(([path, integrity]) => `${path} ${integrity}\n`);
  return hash("sha256", list.join(""), "hex").slice(0, 12);
}

/** @throws UserFacingError for a build against versions that the host does not provide */
function requireProvidedVersions(remote: RemoteName, webFolder: string): void {
  const file = join(webFolder, resolvedVersionsFile);
  const problems = existsSync(file)
    ? findVersionProblems(ResolvedVersions.parse(JSON.parse(readFileSync(file, "utf8"))))
    : ["its build does not say against which versions it was made: build it with the portal's remoteConfig."];
  if (problems.length > 0) throw new UserFacingError(`${remote} is not released:\n  ${problems.join("\n  ")}`);
}

/** The manifest must be the remote's own and name exactly the texts of the release. */
function readManifest(text: string, remote: RemoteName, files: Readonly<Record<string, string>>): RemoteManifest {
  const parsed = RemoteManifest.safeParse(JSON.parse(text));
  if (!parsed.success)
    throw new UserFacingError(`The manifest of ${remote} is invalid:\n${z.prettifyError(parsed.error)}`);
  const { name, namespaces } = parsed.data;
  if (name !== remote) throw new UserFacingError(`The manifest of ${remote} says that it is ${name}.`);
  const expected = namespaces.flatMap((namespace) =>
    languages.map((language) => `locales/${language}/${namespace}.json`),
  );
  const packaged = Object.keys(files).filter((file) => file.startsWith("locales/"));
  const missingTexts = expected.filter((file) => !packaged.includes(file));
  const undeclaredTexts = packaged.filter((file) => !expected.includes(file));
  if (missingTexts.length > 0)
    throw new UserFacingError(`${remote} names namespaces without texts: ${missingTexts.join(", ")} is missing.`);
  if (undeclaredTexts.length > 0)
    throw new UserFacingError(
      `The manifest of ${remote} does not name the namespace of ${undeclaredTexts.join(", ")}.`,
    );
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
