import { isPortalError } from "@relicario/shared/errors";

import type { Session } from "../session.ts";

const resends = 2;
const pauseMilliseconds = 800;

/**
 * Sends a call whose answer may get lost. Its body carries a keyring change, and the same bytes once more answer as the
 * first time: so they are sent again when nothing, or nothing certain, was answered.
 */
export async function sendOnce<T>(session: Session, send: () => Promise<T>): Promise<T> {
  for (let done = 0; ; done++) {
    try {
      return await send();
    } catch (error) {
      if (!isAnswerLost(error) || done >= resends) throw error;
      await session.pause(pauseMilliseconds * 2 ** done);
    }
  }
}

/** Whether the service may have done it all the same. */
export function isAnswerLost(error: unknown): boolean {
  return isPortalError(error, "service_unavailable", "timed_out", "internal_error", "bad_answer", "offline");
}
