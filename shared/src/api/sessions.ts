import { z } from "zod";

import { Id, Timestamp } from "./wire.ts";

/**
 * One sign-in: a session of the identity provider with all product sessions that came from it,
 * named by the newest of them. `device` is browser and system as the browser says, such as
 * `Firefox, Linux`; `address` is where it last called from, without its end.
 */
export const OwnSession = z.strictObject({
  id: Id,
  /** The one that asks. */
  current: z.boolean(),
  device: z.string().nullable(),
  address: z.string().nullable(),
  signed_in_at: Timestamp,
  /** When it last got a session token; it gets one every few minutes while it is used. */
  last_seen_at: Timestamp,
});
export type OwnSession = z.infer<typeof OwnSession>;

/** Answer of `GET /user/sessions`: the one that asks, then the others, the last seen first. */
export const OwnSessions = z.strictObject({ sessions: z.array(OwnSession) });
export type OwnSessions = z.infer<typeof OwnSessions>;
