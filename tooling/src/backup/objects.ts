import type { Client } from "pg";

import { hashObject, ObjectStoreError, type ObjectReference, type ObjectStore } from "../objects/index.ts";

/** Reads the objects that rows reference, in the snapshot of the caller's transaction. */
export async function readReferencedObjects(client: Client): Promise<ObjectReference[]> {
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

/** Reads keys that are reserved or await deletion: their objects may exist. */
export async function readOrphanedKeys(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ key: string }>("select object_key as key from loose_objects");
  return rows.map(({ key }) => key);
}

export interface Findings {
  readonly checkedCount: number;
  readonly missing: readonly string[];
  readonly changed: readonly string[];
  readonly unreferenced: readonly string[];
}

export async function listKeys(store: ObjectStore): Promise<string[]> {
  const keys = new Set<string>();
  for await (const key of store.list()) keys.add(key);
  return [...keys];
}

/** Matches no object, so that an unreadable one is reported as changed. */
const unreadableDigest = { size: -1, sha256: Buffer.of() };

/**
 * Hashes every object and compares it with its reference.
 *
 * @param existingKeys listed before the references were read
 * @param knownKeys other keys that may exist
 */
export async function compareObjects(
  store: ObjectStore,
  referencedObjects: readonly ObjectReference[],
  existingKeys: readonly string[],
  knownKeys: Iterable<string> = [],
): Promise<Findings> {
  const missing: string[] = [];
  const changed: string[] = [];
  for (const { key, size, sha256 } of referencedObjects) {
    const digest = await hashObject(store, key).catch((error: unknown) => {
      if (error instanceof ObjectStoreError) throw error;
      return unreadableDigest;
    });
    if (digest === null) missing.push(key);
    else if (digest.size !== size || (sha256 !== null && digest.sha256.toString("hex") !== sha256)) changed.push(key);
  }
  const referencedKeys = new Set([...referencedObjects.map(({ key }) => key), ...knownKeys]);
  const unreferenced = existingKeys.filter((key) => !referencedKeys.has(key));
  return { checkedCount: referencedObjects.length, missing, changed, unreferenced };
}
