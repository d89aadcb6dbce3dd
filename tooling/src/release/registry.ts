/**
 * Immutable releases by remote: `<registry>/<remote>/<release>/`, each with its `release.json`.
 * Static servers serve it.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

import { ReleaseRecord, type VerificationKey } from "@relicario/shared/contract";
import { compactVerify, createLocalJWKSet } from "jose";
import { z } from "zod";

import { isPrecompressed } from "./compress.ts";
import { listFiles } from "./files.ts";
import { computeIntegrity } from "./integrity.ts";
import { UserFacingError } from "../user-facing-error.ts";

export interface RegisteredRelease {
  readonly jws: string;
  /**
   * What the team signed. One of a later contract may have members that this version does not know:
   * {@link ReleaseRecord} parses it.
   */
  readonly signedRecord: z.infer<typeof SignedRecord>;
  readonly folder: string;
}

const SignedRecord = z.looseObject({
  release: z.string(),
  manifest: z.looseObject({ name: z.string(), contract: z.string() }),
  files: z.record(z.string(), z.string()),
});

const recordFile = "release.json";

/**
 * Copies the folder of a release into the registry, whole or not at all; one that is there already
 * stays.
 */
export function addToRegistry(registry: string, remote: string, folder: string, releaseId: string): void {
  const target = join(registry, remote, releaseId);
  const stagingFolder = join(registry, remote, `.part-${releaseId}-${String(process.pid)}`);
  if (existsSync(target)) {
    // The same files; its team may have signed them anew.
    cpSync(join(folder, recordFile), join(target, `${recordFile}.part`));
    renameSync(join(target, `${recordFile}.part`), join(target, recordFile));
    return;
  }
  rmSync(stagingFolder, { recursive: true, force: true });
  mkdirSync(join(registry, remote), { recursive: true });
  cpSync(folder, stagingFolder, { recursive: true });
  renameSync(stagingFolder, target);
}

/** Ids of a remote's releases in the registry. */
export function listReleases(registry: string, remote: string): readonly string[] {
  const folder = join(registry, remote);
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
    .map(({ name }) => name);
}

/**
 * A release whose record one of these keys signed for this id, with every file as it was signed.
 * @throws UserFacingError with the reason
 */
export async function loadVerifiedRelease(
  registry: string,
  releaseId: string,
  findKeys: (remote: string) => readonly VerificationKey[],
): Promise<RegisteredRelease> {
  const remote = releaseId.split("-")[0] ?? "";
  const folder = join(registry, remote, releaseId);
  if (!/^[a-z0-9]+-[0-9.]+-[0-9a-f]{12}$/.test(releaseId))
    throw new UserFacingError(`${releaseId} is not the name of a release.`);
  if (!existsSync(join(folder, recordFile)))
    throw new UserFacingError(`There is no release ${releaseId}. \`portal status\` lists those that are there.`);
  const jws = readFileSync(join(folder, recordFile), "utf8");
  const signedRecord = await verifyRecord(jws, findKeys(remote));
  if (signedRecord === null)
    throw new UserFacingError(`${releaseId} is not signed by a key of the team of ${remote} that the portal knows.`);
  if (signedRecord.release !== releaseId || signedRecord.manifest.name !== remote)
    throw new UserFacingError(
      `What the team of ${remote} signed in ${releaseId} is ${signedRecord.release} of ${signedRecord.manifest.name}.`,
    );
  const problems = findFileProblems(folder, signedRecord.files);
  if (problems.length > 0) throw new UserFacingError(`${releaseId} is not what was signed: ${problems.join(", ")}.`);
  return { jws, signedRecord, folder };
}

/** The payload of a record that one of these keys signed; null for anything else. */
async function verifyRecord(
  jws: string,
  keys: readonly VerificationKey[],
): Promise<RegisteredRelease["signedRecord"] | null> {
  try {
    const { payload } = await compactVerify(jws, createLocalJWKSet({ keys: [...keys] }), { algorithms: ["EdDSA"] });
    return SignedRecord.parse(JSON.parse(new TextDecoder().decode(payload)));
  } catch {
    return null; // whatever the reason, none of them signed this
  }
}

/** The record, when this version of the format holds for it. */
export function parseRecord({ signedRecord }: Pick<RegisteredRelease, "signedRecord">): ReleaseRecord | null {
  return ReleaseRecord.safeParse(signedRecord).data ?? null;
}

/** Files that are missing, changed or not listed. A compressed form holds the bytes of its file. */
function findFileProblems(folder: string, files: Readonly<Record<string, string>>): readonly string[] {
  const presentFiles = listFiles(folder).filter((file) => file !== recordFile);
  const missing = Object.keys(files)
    .filter((file) => !presentFiles.includes(file))
    .map((file) => `${file} is missing`);
  const unexpectedFiles = presentFiles.flatMap((file) => {
    const originalName = isPrecompressed(file) ? file.replace(/\.(br|gz)$/, "") : file;
    const expected = Object.hasOwn(files, originalName) ? files[originalName] : undefined;
    if (expected === undefined) return [`${file} is not listed`];
    return readIntegrity(join(folder, file), file === originalName) === expected ? [] : [`${file} was changed`];
  });
  return [...missing, ...unexpectedFiles];
}

function readIntegrity(path: string, isPlain: boolean): string | null {
  try {
    const bytes = readFileSync(path);
    const decoded = isPlain ? bytes : path.endsWith(".br") ? brotliDecompressSync(bytes) : gunzipSync(bytes);
    return computeIntegrity(decoded);
  } catch {
    return null; // cannot be unpacked: not the file's bytes
  }
}
