/**
 * Session storage key of the random id that decides whether a session gets canary releases. It is
 * not derived from the person.
 */
export const rolloutBucketKey = "releaseDraw";

/**
 * A number from 0 to 100 for this session. It stays the same while the tab is open, so that a
 * reload gets the same releases, and it is the same for all remotes, so that their canaries run
 * together. Without storage each page draws its own.
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
    // Storage is full or forbidden: the next page of this tab will draw another number.
  }
  return hashToBucket(id ?? randomId());
}

/**
 * Whether a session with this number gets a canary that is released to `percent` of all sessions.
 */
export function isInRollout(bucket: number, percent: number): boolean {
  return bucket < percent;
}

/**
 * FNV-1a (32 bits) with MurmurHash3's finalizer, scaled to 0 up to, not including, 100. It need not
 * be hard to invert: a person who wants a canary may have one.
 */
function hashToBucket(id: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(id)) hash = Math.imul(hash ^ byte, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  hash ^= hash >>> 16;
  return ((hash >>> 0) / 2 ** 32) * 100;
}
