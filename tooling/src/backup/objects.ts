import { join } from "node:path";

import type { Client } from "pg";

import { hashFile } from "./files.ts";
import type { BackedUpObject } from "./state.ts";

/** As a row has it: parts that were kept before digests were have none. */
export type ReferencedObject = Omit<BackedUpObject, "sha256"> & { readonly sha256: string | null };

/** The objects that the rows of one moment refer to; the caller's transaction is that moment. */
export async function readReferencedObjects(client: Client): Promise<ReferencedObject[]> {
  const { rows } = await client.query<{ key: string; size: string; sha256: string | null }>(
    `select o.object_key as key, least(v.part_size, v.size - (o.part - 1) * v.part_size) as size, encode(o.sha256, 'hex') as sha256
     from version_objects o join secret_versions v using (account_id, secret_id, version)
     union all
     select p.object_key, least(u.part_size, u.size - (p.part - 1) * u.part_size), encode(p.sha256, 'hex')
     from upload_parts p join uploads u on u.account_id = p.account_id and u.id = p.upload_id
     union all
     select p.object_key, least(a.part_size, a.size - (p.part - 1) * a.part_size), encode(p.sha256, 'hex')
     from upload_parts p join answers a on a.account_id = p.account_id and a.id = p.upload_id
     union all
     select s.object_key, s.size, encode(s.content_sha256, 'hex') from staged_rows s where s.object_key is not null
     order by key`,
  );
  return rows.map(({ key, size, sha256 }) => ({ key, size: Number(size), sha256 }));
}

/** Keys that are announced or wait for their collection: their objects may be there. */
export async function readOrphanedKeys(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ key: string }>("select object_key as key from loose_objects");
  return rows.map(({ key }) => key);
}

export interface Findings {
  readonly checkedCount: number;
  readonly missing: readonly string[];
  readonly changed: readonly string[];
  /** There, and nobody refers to them. */
  readonly unreferenced: readonly string[];
}

/**
 * A file that is there and cannot be read is not what was kept: it is named like one that changed.
 */
const unreadableDigest = { size: -1, sha256: "" };

/**
 * Reads every object.
 *
 * @param existingFiles what the folder held before the names were taken
 * @param knownKeys keys that may be there besides
 */
export async function compareObjects(
  folder: string,
  referenced: readonly ReferencedObject[],
  existingFiles: readonly string[],
  knownKeys: Iterable<string> = [],
): Promise<Findings> {
  const missing: string[] = [];
  const changed: string[] = [];
  for (const { key, size, sha256 } of referenced) {
    const digest = await hashFile(join(folder, key)).catch(() => unreadableDigest);
    if (digest === null) missing.push(key);
    else if (digest.size !== size || (sha256 !== null && digest.sha256 !== sha256)) changed.push(key);
  }
  const referencedKeys = new Set([...referenced.map(({ key }) => key), ...knownKeys]);
  // What is being written stands beside its name.
  const unreferenced = existingFiles.filter((path) => !referencedKeys.has(path.replace(/\.[0-9a-f]{12}\.tmp$/, "")));
  return { checkedCount: referenced.length, missing, changed, unreferenced };
}
