import { z } from "zod";

import { maxListedSignIns } from "./limits.ts";
import { Id, Timestamp } from "./wire.ts";

/**
 * A sign-in: a session of the identity provider with all product sessions derived from it. `id` is
 * the id of the newest product session. `device` is the browser and system that the browser
 * reports, such as `Firefox, Linux`. `address` is the truncated IP address of the last call.
 */
export const OwnSession = z.strictObject({
  id: Id,
  /** Whether this sign-in made the call. */
  current: z.boolean(),
  device: z.string().nullable(),
  address: z.string().nullable(),
  signed_in_at: Timestamp,
  /**
   * When it last received a session token. While a session is used that happens every few minutes.
   */
  last_seen_at: Timestamp,
});
export type OwnSession = z.infer<typeof OwnSession>;

/**
 * Response of `GET /user/sessions`: the calling session first, then the others by `last_seen_at`,
 * newest first.
 */
export const OwnSessions = z.strictObject({ sessions: z.array(OwnSession).max(maxListedSignIns) });
export type OwnSessions = z.infer<typeof OwnSessions>;
