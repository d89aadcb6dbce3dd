/** Session storage key of the random id that decides whether a session gets canaries; it says nothing of the person. */
export const drawKey = "releaseDraw";

/**
 * Where this session lies between 0 and 100: the same place as long as the tab lives, so that it stays with what it got, and
 * one place for all remotes, so that their canaries are met together. Without storage it is drawn anew by each page.
 */
export function sessionDraw(storage: Pick<Storage, "getItem" | "setItem">, randomId: () => string = () => crypto.randomUUID()): number {
  let id: string | null = null;
  try {
    id = storage.getItem(drawKey);
    if (id === null) {
      id = randomId();
      storage.setItem(drawKey, id);
    }
  } catch {
    // Storage is full or forbidden: this page still draws, only the next one draws again.
  }
  return placeOfId(id ?? randomId());
}

/** Whether a session that lies at `draw` is among the first `percent` of a hundred. */
export function drawn(draw: number, percent: number): boolean {
  return draw < percent;
}

/**
 * FNV-1a of 32 bits with MurmurHash3's last mixing, as a number from 0 up to, not including, 100. Nothing depends on it being
 * hard to turn round: a person who wants a canary may have one.
 */
function placeOfId(id: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(id)) hash = Math.imul(hash ^ byte, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  hash ^= hash >>> 16;
  return ((hash >>> 0) / 2 ** 32) * 100;
}
