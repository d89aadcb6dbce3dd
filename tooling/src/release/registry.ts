/** Immutable releases: `<registry>/<remote>/<release>/`, each with its `release.json`. */
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

import { ReleaseId, ReleaseRecord, RemoteName, type VerificationKey } from "@relicario/shared/contract";
import { compactVerify, createLocalJWKSet } from "jose";
import { z } from "zod";

import { maxReleaseFileBytes } from "../serve/limits.ts";
import { isPrecompressed } from "./compress.ts";
import { listFiles, listOtherEntries } from "./files.ts";
import { computeIntegrity } from "./integrity.ts";
import { hashFileList, maxJwsLength } from "./release.ts";
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
  manifest: z.looseObject({ name: RemoteName, contract: z.string() }),
  files: z.record(z.string(), z.string()),
});

type FindKeys = (remote: string) => readonly VerificationKey[];

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
 * @param findKeys keys of a remote's team
 * @throws UserFacingError with the reason
 */
export async function loadVerifiedRelease(
  registry: string,
  releaseId: string,
  findKeys: FindKeys,
): Promise<RegisteredRelease> {
  const folder = join(registry, releaseId.split("-")[0] ?? "", releaseId);
  if (!ReleaseId.safeParse(releaseId).success) throw new UserFacingError(`${releaseId} is not the name of a release.`);
  if (!existsSync(join(folder, recordFile)))
    throw new UserFacingError(`There is no release ${releaseId}. \`portal status\` lists those that are there.`);
  const release = await openRecord(folder, releaseId, findKeys);
  if (release.signedRecord.release !== releaseId)
    throw new UserFacingError(`${releaseId} has the record of ${release.signedRecord.release}.`);
  requireSignedFiles(release, releaseId);
  return release;
}

/**
 * Adds a release from a folder of someone else: verifies a copy, since the folder may change.
 *
 * @returns the release's id
 * @throws UserFacingError with the reason
 */
export async function importIntoRegistry(registry: string, folder: string, findKeys: FindKeys): Promise<string> {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new UserFacingError(`There is no folder ${folder}.`);
  const stagingFolder = join(registry, `.import-${String(process.pid)}`);
  mkdirSync(registry, { recursive: true });
  try {
    const source = realpathSync(folder);
    cpSync(source, stagingFolder, {
      recursive: true,
      filter: (path) => requireSmallFile(path, relative(source, path)),
    });
    const release = await openRecord(stagingFolder, folder, findKeys);
    requireSignedFiles(release, folder);
    const { signedRecord } = release;
    const target = join(registry, signedRecord.manifest.name, signedRecord.release);
    if (existsSync(target)) throw new UserFacingError(`The registry has ${signedRecord.release} already.`);
    mkdirSync(dirname(target), { recursive: true });
    renameSync(stagingFolder, target);
    return signedRecord.release;
  } finally {
    rmSync(stagingFolder, { recursive: true, force: true });
  }
}

function requireSmallFile(path: string, name: string): true {
  const entry = lstatSync(path);
  if (!entry.isFile() && !entry.isDirectory()) throw new UserFacingError(`${name} is neither file nor folder.`);
  if (entry.size > maxReleaseFileBytes) throw new UserFacingError(`${name} is larger than 32 MiB.`);
  return true;
}

/**
 * Reads and verifies what the team signed, not yet the files.
 *
 * @param name for messages
 */
async function openRecord(folder: string, name: string, findKeys: FindKeys): Promise<RegisteredRelease> {
  const file = join(folder, recordFile);
  const jws = existsSync(file) ? readFileSync(file, "utf8") : "";
  const claim = parseSignedRecord(Buffer.from(jws.split(".")[1] ?? "", "base64url"));
  if (claim === null) throw new UserFacingError(`${name} has no valid ${recordFile}.`);
  if (jws.length > maxJwsLength) throw new UserFacingError(`The ${recordFile} of ${name} is too large for browsers.`);
  const remote = claim.manifest.name;
  const signedRecord = await verifyRecord(jws, findKeys(remote));
  if (signedRecord === null)
    throw new UserFacingError(`${name} is not signed by a key of the team of ${remote} that the portal knows.`);
  if (signedRecord.release.split("-")[0] !== remote)
    throw new UserFacingError(`What the team of ${remote} signed in ${name} is ${signedRecord.release}.`);
  return { jws, signedRecord, folder };
}

/** Verifies every file, and that the release is named by their hash. */
function requireSignedFiles({ folder, signedRecord }: RegisteredRelease, name: string): void {
  const problems = findFileProblems(folder, signedRecord.files);
  if (problems.length > 0) throw new UserFacingError(`${name} is not what was signed: ${problems.join(", ")}.`);
  if (!signedRecord.release.endsWith(`-${hashFileList(signedRecord.files)}`))
    throw new UserFacingError(`${name} is not named by the hash of its files.`);
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
    return null; // no JSON, or of another form
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
  const otherEntries = listOtherEntries(folder).map((entry) => `${entry} is neither file nor folder`);
  return [...missingFiles, ...unexpectedFiles, ...otherEntries];
}

function readIntegrity(path: string, isUncompressed: boolean): string | null {
  try {
    const bytes = readFileSync(path);
    const decode = path.endsWith(".br") ? brotliDecompressSync : gunzipSync;
    const decoded = isUncompressed ? bytes : decode(bytes, { maxOutputLength: maxReleaseFileBytes });
    return computeIntegrity(decoded);
  } catch {
    return null; // cannot be decoded, so it counts as changed
  }
}
