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

import { isEncodedForm } from "../release/compress.ts";
import { filesBelow } from "../release/files.ts";
import { integrityOfBytes } from "../release/integrity.ts";
import { Complaint } from "../start/complaint.ts";

export interface RegisteredRelease {
  readonly jws: string;
  /**
   * What the team signed. One of a later contract may have members that this version does not know:
   * {@link ReleaseRecord} parses it.
   */
  readonly signed: z.infer<typeof Stated>;
  readonly folder: string;
}

const Stated = z.looseObject({
  release: z.string(),
  manifest: z.looseObject({ name: z.string(), contract: z.string() }),
  files: z.record(z.string(), z.string()),
});

const recordFile = "release.json";

/**
 * Copies the folder of a release into the registry, whole or not at all; one that is there already
 * stays.
 */
export function addToRegistry(registry: string, remote: string, folder: string, release: string): void {
  const target = join(registry, remote, release);
  const part = join(registry, remote, `.part-${release}-${String(process.pid)}`);
  if (existsSync(target)) {
    // The same files; its team may have signed them anew.
    cpSync(join(folder, recordFile), join(target, `${recordFile}.part`));
    renameSync(join(target, `${recordFile}.part`), join(target, recordFile));
    return;
  }
  rmSync(part, { recursive: true, force: true });
  mkdirSync(join(registry, remote), { recursive: true });
  cpSync(folder, part, { recursive: true });
  renameSync(part, target);
}

/** Ids of a remote's releases in the registry. */
export function releasesIn(registry: string, remote: string): readonly string[] {
  const folder = join(registry, remote);
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
    .map(({ name }) => name);
}

/**
 * A release whose record one of these keys signed for this id, with every file as it was signed.
 * @throws Complaint with the reason
 */
export async function openRelease(
  registry: string,
  release: string,
  keysOf: (remote: string) => readonly VerificationKey[],
): Promise<RegisteredRelease> {
  const remote = release.split("-")[0] ?? "";
  const folder = join(registry, remote, release);
  if (!/^[a-z0-9]+-[0-9.]+-[0-9a-f]{12}$/.test(release))
    throw new Complaint(`${release} is not the name of a release.`);
  if (!existsSync(join(folder, recordFile)))
    throw new Complaint(`There is no release ${release}. \`portal status\` lists those that are there.`);
  const jws = readFileSync(join(folder, recordFile), "utf8");
  const signed = await openSigned(jws, keysOf(remote));
  if (signed === null)
    throw new Complaint(`${release} is not signed by a key of the team of ${remote} that the portal knows.`);
  if (signed.release !== release || signed.manifest.name !== remote)
    throw new Complaint(
      `What the team of ${remote} signed in ${release} is ${signed.release} of ${signed.manifest.name}.`,
    );
  const wrong = wrongFiles(folder, signed.files);
  if (wrong.length > 0) throw new Complaint(`${release} is not what was signed: ${wrong.join(", ")}.`);
  return { jws, signed, folder };
}

/** The payload of a record that one of these keys signed; null for anything else. */
export async function openSigned(
  jws: string,
  keys: readonly VerificationKey[],
): Promise<RegisteredRelease["signed"] | null> {
  try {
    const { payload } = await compactVerify(jws, createLocalJWKSet({ keys: [...keys] }), { algorithms: ["EdDSA"] });
    return Stated.parse(JSON.parse(new TextDecoder().decode(payload)));
  } catch {
    return null; // whatever the reason, none of them signed this
  }
}

/** The record, when this version of the format holds for it. */
export function recordOf({ signed }: Pick<RegisteredRelease, "signed">): ReleaseRecord | null {
  return ReleaseRecord.safeParse(signed).data ?? null;
}

/** Files that are missing, changed or not listed. A compressed form holds the bytes of its file. */
function wrongFiles(folder: string, files: Readonly<Record<string, string>>): readonly string[] {
  const there = filesBelow(folder).filter((file) => file !== recordFile);
  const missing = Object.keys(files)
    .filter((file) => !there.includes(file))
    .map((file) => `${file} is missing`);
  const others = there.flatMap((file) => {
    const plain = isEncodedForm(file) ? file.replace(/\.(br|gz)$/, "") : file;
    const expected = Object.hasOwn(files, plain) ? files[plain] : undefined;
    if (expected === undefined) return [`${file} is not listed`];
    return integrityOf(join(folder, file), file === plain) === expected ? [] : [`${file} was changed`];
  });
  return [...missing, ...others];
}

function integrityOf(path: string, plain: boolean): string | null {
  try {
    const bytes = readFileSync(path);
    const decoded = plain ? bytes : path.endsWith(".br") ? brotliDecompressSync(bytes) : gunzipSync(bytes);
    return integrityOfBytes(decoded);
  } catch {
    return null; // cannot be unpacked: not the file's bytes
  }
}
