/**
 * Session storage key of the random id that assigns a session to canary releases. The id is not
 * derived from the person.
 */
export const rolloutBucketKey = "releaseDraw";

/**
 * Bucket of this session, from 0 up to 100. It is the same for all remotes, so that their canaries
 * run together, and survives reloads of the tab. Without storage each page draws a new bucket.
 */
export function getRolloutBucket(
  storage: Pick<Storage, "getItem" | "setItem">,
  randomId: () => string = () => crypto.randomUUID(),
): number {
  let id: string | null = null;
  try {
    id = storage.getItem(rolloutBucketKey);
    if (id === null) {
      id = randomId();
      storage.setItem(rolloutBucketKey, id);
    }
  } catch {
    // Storage is full or forbidden: the next page of this tab draws another id.
  }
  return hashToBucket(id ?? randomId());
}

/** Whether this session runs a canary that is rolled out to `percent` of all sessions. */
export function isInRollout(bucket: number, percent: number): boolean {
  return bucket < percent;
}

/**
 * FNV-1a (32 bits) with MurmurHash3's finalizer, scaled to [0, 100). It need not resist inversion:
 * anyone may choose to run a canary.
 */
function hashToBucket(id: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(id)) hash = Math.imul(hash ^ byte, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  hash ^= hash >>> 16;
  return ((hash >>> 0) / 2 ** 32) * 100;
}
