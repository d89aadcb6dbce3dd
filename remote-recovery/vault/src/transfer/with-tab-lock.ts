import { PortalError } from "@relicario/shared/errors";

/**
 * Runs the callback while no other tab runs one of this name. A browser that refuses locks also
 * refuses storage, so that no other tab knows of this tab's work.
 *
 * @throws PortalError `conflict` while another tab runs one
 */
export async function withTabLock<T>(name: string, callback: () => Promise<T>): Promise<T> {
  if (!("navigator" in globalThis) || !("locks" in navigator)) return callback();
  const answer = { wasGiven: false };
  try {
    return await navigator.locks.request(name, { ifAvailable: true }, (lock) => {
      answer.wasGiven = true;
      if (lock === null) throw new PortalError("conflict");
      return callback();
    });
  } catch (error) {
    if (answer.wasGiven) throw error;
    return callback();
  }
}
