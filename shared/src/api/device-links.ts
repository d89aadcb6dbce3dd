import { z } from "zod";

import { maxDeviceLinkLength } from "./limits.ts";
import { base64urlBytes, compactJwe, Timestamp } from "./wire.ts";

/**
 * Of a mailbox between two devices of one account: 128 bits that follow from the code that one of
 * them shows.
 */
export const DeviceLinkId = base64urlBytes(16, { exact: true });

/** Body of `PUT /device-links/{id}`: what the new device asks for. */
export const FillDeviceLinkBody = z.strictObject({ message: compactJwe(maxDeviceLinkLength) });
export type FillDeviceLinkBody = z.infer<typeof FillDeviceLinkBody>;

/** After `expires_at` the mailbox is gone. */
export const FillDeviceLinkResponse = z.strictObject({ expires_at: Timestamp });

/** Answer of `GET /device-links/{id}`, to other sessions than the one that filled it. */
export const DeviceLink = z.strictObject({ message: compactJwe(maxDeviceLinkLength), expires_at: Timestamp });

/** Body of `PUT /device-links/{id}/answer`. */
export const AnswerDeviceLinkBody = z.strictObject({ answer: compactJwe(maxDeviceLinkLength) });
export type AnswerDeviceLinkBody = z.infer<typeof AnswerDeviceLinkBody>;

/**
 * Answer of `GET /device-links/{id}/answer`, to the session that filled it alone; null while there
 * is none.
 */
export const DeviceLinkAnswer = z.strictObject({
  answer: compactJwe(maxDeviceLinkLength).nullable(),
  expires_at: Timestamp,
});
export type DeviceLinkAnswer = z.infer<typeof DeviceLinkAnswer>;
