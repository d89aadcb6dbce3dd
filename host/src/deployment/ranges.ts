const version = /^(\d+)\.(\d+)\.(\d+)$/;
const caret = /^\^(\d+)(?:\.(\d+))?(?:\.(\d+))?$/;

/**
 * Whether a caret range of contract versions (`^1`, `^1.2`, `^1.2.3`) holds `offered`: same major, not older. The contract
 * begins at 1, so the special rules of 0 are not needed. Any other range holds nothing.
 */
export function caretRangeHolds(range: string, offered: string): boolean {
  const wanted = caret.exec(range);
  const given = version.exec(offered);
  if (wanted === null || given === null) return false;
  const [major, minor, patch] = wanted.slice(1).map((part: string | undefined) => Number(part ?? 0));
  const [offeredMajor, offeredMinor, offeredPatch] = given.slice(1).map(Number);
  if (major !== offeredMajor || major === 0) return false;
  return minor === offeredMinor ? (offeredPatch ?? 0) >= (patch ?? 0) : (offeredMinor ?? 0) > (minor ?? 0);
}
