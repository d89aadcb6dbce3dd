import { acquireLease } from "../backup/lease.ts";
import { listKeys, readReferencedObjects } from "../backup/objects.ts";
import { copyObjects, openObjectStore } from "../objects/index.ts";

export interface MoveResult {
  readonly totalCount: number;
  readonly copiedCount: number;
  /** Keys of referenced objects that are missing or damaged in both stores. */
  readonly damagedKeys: readonly string[];
}

/**
 * Copies every referenced object that the target lacks, while services write to the target and read
 * both stores (`OBJECTS_SECOND_URL`). Repeatable. Under a backup's lease, so that no object is
 * deleted that is being copied.
 */
export async function moveObjects(databaseUrl: string, from: string, to: string): Promise<MoveResult> {
  const [source, target] = [await openObjectStore(from), await openObjectStore(to)];
  const lease = await acquireLease(databaseUrl);
  try {
    const references = await readReferencedObjects(lease.client);
    const existingKeys = new Set(await listKeys(target));
    const pendingReferences = references.filter(({ key }) => !existingKeys.has(key));
    const digests = await copyObjects(source, target, pendingReferences);
    const damagedKeys = pendingReferences.filter((_, index) => digests[index] === null).map(({ key }) => key);
    await lease.assertHeld();
    return {
      totalCount: references.length,
      copiedCount: pendingReferences.length - damagedKeys.length,
      damagedKeys,
    };
  } finally {
    await lease.release();
  }
}
