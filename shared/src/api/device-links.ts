import { z } from "zod";

import { maxDeviceLinkLength } from "./limits.ts";
import { base64urlBytes, compactJwe, Timestamp } from "./wire.ts";

/**
 * Id of a mailbox between two devices of an account: 128 bits derived from the code that one device
 * shows.
 */
export const DeviceLinkId = base64urlBytes(16, { exact: true });

/** Body of `PUT /device-links/{id}`: the sealed request of the new device. */
export const FillDeviceLinkBody = z.strictObject({ message: compactJwe(maxDeviceLinkLength) });
export type FillDeviceLinkBody = z.infer<typeof FillDeviceLinkBody>;

/** Response of `PUT /device-links/{id}`. The service deletes the mailbox at `expires_at`. */
export const FillDeviceLinkResponse = z.strictObject({ expires_at: Timestamp });

/**
 * Response of `GET /device-links/{id}`, for any session of the account except the one that filled
 * the mailbox.
 */
export const DeviceLink = z.strictObject({ message: compactJwe(maxDeviceLinkLength), expires_at: Timestamp });

/** Body of `PUT /device-links/{id}/answer`. */
export const AnswerDeviceLinkBody = z.strictObject({ answer: compactJwe(maxDeviceLinkLength) });
export type AnswerDeviceLinkBody = z.infer<typeof AnswerDeviceLinkBody>;

/**
 * Response of `GET /device-links/{id}/answer`, only for the session that filled the mailbox. Null
 * until the other device has answered.
 */
export const DeviceLinkAnswer = z.strictObject({
  answer: compactJwe(maxDeviceLinkLength).nullable(),
  expires_at: Timestamp,
});
export type DeviceLinkAnswer = z.infer<typeof DeviceLinkAnswer>;
