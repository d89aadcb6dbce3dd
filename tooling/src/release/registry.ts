/** Immutable releases: `<registry>/<remote>/<release>/`, each with its `release.json`. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

import { ReleaseId, ReleaseRecord, type VerificationKey } from "@relicario/shared/contract";
import { compactVerify, createLocalJWKSet } from "jose";
import { z } from "zod";

import { isPrecompressed } from "./compress.ts";
import { listFiles } from "./files.ts";
import { computeIntegrity } from "./integrity.ts";
import { UserFacingError } from "../user-facing-error.ts";

export interface RegisteredRelease {
  readonly jws: string;
  /**
   * What the team signed. A later contract may add members: {@link ReleaseRecord} parses those of
   * this version.
   */
  readonly signedRecord: z.infer<typeof SignedRecord>;
  readonly folder: string;
}

const SignedRecord = z.looseObject({
  release: ReleaseId,
  manifest: z.looseObject({ name: z.string(), contract: z.string() }),
  files: z.record(z.string(), z.string()),
});

const recordFile = "release.json";

/** Copies atomically. An existing release keeps its files and gets the new record. */
export function addToRegistry(registry: string, remote: string, folder: string, releaseId: string): void {
  const target = join(registry, remote, releaseId);
  const stagingFolder = join(registry, remote, `.part-${releaseId}-${String(process.pid)}`);
  if (existsSync(target)) {
    // The team may have signed the same files with another key.
    cpSync(join(folder, recordFile), join(target, `${recordFile}.part`));
    renameSync(join(target, `${recordFile}.part`), join(target, recordFile));
    return;
  }
  rmSync(stagingFolder, { recursive: true, force: true });
  mkdirSync(join(registry, remote), { recursive: true });
  cpSync(folder, stagingFolder, { recursive: true });
  renameSync(stagingFolder, target);
}

export function listRemotes(registry: string): readonly string[] {
  return listFolders(registry);
}

export function listReleases(registry: string, remote: string): readonly string[] {
  return listFolders(join(registry, remote));
}

function listFolders(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
    .map(({ name }) => name);
}

/**
 * Verifies signature, id and every file.
 *
 * @throws UserFacingError with the reason
 */
export async function loadVerifiedRelease(
  registry: string,
  releaseId: string,
  findKeys: (remote: string) => readonly VerificationKey[],
): Promise<RegisteredRelease> {
  const remote = releaseId.split("-")[0] ?? "";
  const folder = join(registry, remote, releaseId);
  if (!ReleaseId.safeParse(releaseId).success) throw new UserFacingError(`${releaseId} is not the name of a release.`);
  if (!existsSync(join(folder, recordFile)))
    throw new UserFacingError(`There is no release ${releaseId}. \`portal status\` lists those that are there.`);
  return loadSignedFolder(folder, findKeys(remote), { remote, releaseId });
}

/** Name of the remote that a release's folder claims to be of; nothing is verified. */
export function readClaimedRemote(folder: string): string {
  const file = join(folder, recordFile);
  const [, payload = ""] = existsSync(file) ? readFileSync(file, "utf8").split(".") : [];
  const claim = parseSignedRecord(Buffer.from(payload, "base64url"));
  if (claim === null) throw new UserFacingError(`${folder} is no signed release: it has no valid ${recordFile}.`);
  return claim.manifest.name;
}

/**
 * Verifies a release wherever it is: signature, names and every file.
 *
 * @param expected its names; without a release's, the signed one
 * @throws UserFacingError with the reason
 */
export async function loadSignedFolder(
  folder: string,
  keys: readonly VerificationKey[],
  { remote, releaseId }: { readonly remote: string; readonly releaseId?: string },
): Promise<RegisteredRelease> {
  const name = basename(folder);
  const jws = readFileSync(join(folder, recordFile), "utf8");
  const signedRecord = await verifyRecord(jws, keys);
  if (signedRecord === null)
    throw new UserFacingError(`${name} is not signed by a key of the team of ${remote} that the portal knows.`);
  const { release, manifest } = signedRecord;
  if (manifest.name !== remote || release.split("-")[0] !== remote || release !== (releaseId ?? release))
    throw new UserFacingError(`What the team of ${remote} signed in ${name} is ${release} of ${manifest.name}.`);
  const problems = findFileProblems(folder, signedRecord.files);
  if (problems.length > 0) throw new UserFacingError(`${name} is not what was signed: ${problems.join(", ")}.`);
  return { jws, signedRecord, folder };
}

async function verifyRecord(
  jws: string,
  keys: readonly VerificationKey[],
): Promise<RegisteredRelease["signedRecord"] | null> {
  try {
    const { payload } = await compactVerify(jws, createLocalJWKSet({ keys: [...keys] }), { algorithms: ["EdDSA"] });
    return parseSignedRecord(payload);
  } catch {
    return null; // invalid, whatever the reason
  }
}

function parseSignedRecord(payload: Uint8Array): RegisteredRelease["signedRecord"] | null {
  try {
    return SignedRecord.parse(JSON.parse(new TextDecoder().decode(payload)));
  } catch {
    return null;
  }
}

/** Null when the record has another format. */
export function parseRecord({ signedRecord }: Pick<RegisteredRelease, "signedRecord">): ReleaseRecord | null {
  return ReleaseRecord.safeParse(signedRecord).data ?? null;
}

/** Compressed forms must decode to their file's bytes. */
function findFileProblems(folder: string, files: Readonly<Record<string, string>>): readonly string[] {
  const presentFiles = listFiles(folder).filter((file) => file !== recordFile);
  const missingFiles = Object.keys(files)
    .filter((file) => !presentFiles.includes(file))
    .map((file) => `${file} is missing`);
  const unexpectedFiles = presentFiles.flatMap((file) => {
    const originalName = isPrecompressed(file) ? file.replace(/\.(br|gz)$/, "") : file;
    const expected = Object.hasOwn(files, originalName) ? files[originalName] : undefined;
    if (expected === undefined) return [`${file} is not listed`];
    return readIntegrity(join(folder, file), file === originalName) === expected ? [] : [`${file} was changed`];
  });
  const links = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isFile() && !entry.isDirectory())
    .map((entry) => `${entry.name} is neither file nor folder`);
  return [...missingFiles, ...unexpectedFiles, ...links];
}

function readIntegrity(path: string, isUncompressed: boolean): string | null {
  try {
    const bytes = readFileSync(path);
    const decoded = isUncompressed ? bytes : path.endsWith(".br") ? brotliDecompressSync(bytes) : gunzipSync(bytes);
    return computeIntegrity(decoded);
  } catch {
    return null; // cannot be decoded, so it counts as changed
  }
}
