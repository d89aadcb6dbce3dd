import type { OpenDatabase } from "../db/database.ts";
import { dropFormer } from "../keyring/former-collector.ts";
import { collect } from "../objects/loose.ts";
import { dropTrashed, warnOfDropping } from "../secrets/trash-collector.ts";
import type { Services } from "../services.ts";
import { dropExpiredUploads } from "../uploads/remove.ts";
import { dropOldQuestions } from "../users/contact-address.ts";
import { dropRestedNames } from "../users/user-name.ts";

/**
 * Removes what is due, in one process at a time, then sends the mails that are. What fails is due again the next time.
 * Objects come last: what was dropped before them goes in the same sweep.
 *
 * @returns false when another process is at it.
 */
export async function sweep({ db, mailer, objects, limiter, now }: Services, database: OpenDatabase): Promise<boolean> {
  const ran = await database.oneAtATime(async () => {
    const at = now();
    await warnOfDropping(db, mailer, at);
    await dropTrashed(db, at);
    await dropExpiredUploads(db, at);
    await dropFormer(db, at);
    await dropOldQuestions(db, at);
    await dropRestedNames(db, at);
    await limiter.sweep();
    await collect(db, objects, at);
  });
  await mailer.deliver();
  return ran;
}
