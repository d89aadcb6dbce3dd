import { base64 } from "@scure/base";
import {
  base64urlBytes,
  stringifyCanonical,
  PositiveInt,
  helperBytes,
  Id,
  maxKitBytes,
  maxKitNoteLength,
  maxKitSecrets,
  maxTicketBytes,
  Timestamp,
} from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";
import { bytesToHex } from "@noble/hashes/utils.js";
import { z } from "zod";

import { copyOf, sha256, utf8, type Bytes } from "../seal/bytes.ts";

/** base64 with padding (RFC 4648, section 4), as required by `base64 -d`. */
function createBase64Schema(maxBytes: number): z.ZodString {
  return z
    .string()
    .min(4)
    .max(4 * Math.ceil(maxBytes / 3))
    .regex(/^[A-Za-z0-9+/]+={0,2}$/, "not base64");
}

/** A kit without its program. Titles and names are only in the sealed tickets. */
export const Kit = z.strictObject({
  v: z.literal(1),
  kind: z.literal("kit"),
  made_at: Timestamp,
  /** The person's note, readable without opening the kit; may be empty. */
  note: z.string().max(maxKitNoteLength),
  user_id: Id,
  /** Public author keys of the account, the current one first. */
  author_keys: z
    .array(base64urlBytes(32, { exact: true }))
    .min(1)
    .max(64),
  /** The only picture of the kit; opens every secret. */
  image: z.strictObject({ id: Id, helper: base64urlBytes(helperBytes, { exact: true }) }),
  secrets: z
    .array(
      z.strictObject({
        secret_id: Id,
        version: PositiveInt,
        /** An owner ticket that is sealed only to the picture's opener. */
        ticket: createBase64Schema(maxTicketBytes),
        /**
         * The sealed content; null if it is in a file next to the kit, {@link
         * getDetachedContentName}.
         */
        content: createBase64Schema(maxKitBytes).nullable(),
      }),
    )
    .min(1)
    .max(maxKitSecrets),
});
export type Kit = z.infer<typeof Kit>;

/** Ids of the elements with the kit and with the parts of its program. */
export const kitElementId = "kit-data";
export const getPartElementId = (name: string): string => `kit-part-${name}`;

/** Name of the file next to the kit that contains a sealed content. */
export function getDetachedContentName(secretId: string): string {
  return `${secretId}.age`;
}

export function toBase64(bytes: Uint8Array): string {
  return base64.encode(bytes);
}

/** @throws PortalError `decryption_failed` */
export function fromBase64(text: string): Bytes {
  try {
    return copyOf(base64.decode(text));
  } catch {
    throw new PortalError("decryption_failed");
  }
}

/** JCS of a kit in one line. Escapes every `<`, so that the text cannot end its script element. */
export function serializeKit(kit: Kit): string {
  return stringifyCanonical(kit).replaceAll("<", String.raw`\u003c`);
}

/** SHA-256 of the line in hex, as stored in its element. */
export function computeKitTextDigest(text: string): string {
  return bytesToHex(sha256(utf8(text)));
}

/**
 * Parses the line of a kit.
 *
 * @throws PortalError `validation_error`, with `reason` in its details: `damaged` if the digest
 *   differs, `newer` for a later format, `not_a_kit`
 */
export function parseKit(text: string, digest: string): Kit {
  if (computeKitTextDigest(text) !== digest) throw createKitError("damaged");
  const value = parseJson(text);
  if (typeof value === "object" && value !== null && "v" in value && typeof value.v === "number" && value.v > 1)
    throw createKitError("newer");
  const parsed = Kit.safeParse(value);
  if (!parsed.success || serializeKit(parsed.data) !== text) throw createKitError("not_a_kit");
  const ids = new Set(parsed.data.secrets.map(({ secret_id: id }) => id));
  if (ids.size !== parsed.data.secrets.length) throw createKitError("not_a_kit");
  return parsed.data;
}

/** Why a file is not a kit or cannot be read. */
export type KitErrorReason = "not_a_kit" | "damaged" | "newer" | "too_large";

export function createKitError(reason: KitErrorReason): PortalError {
  return new PortalError("validation_error", { details: { reason } });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null; // not an object, so not a kit
  }
}
