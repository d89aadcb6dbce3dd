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

/** base64 with padding (RFC 4648, section 4): what `base64 -d` reads. */
function createBase64Schema(maxBytes: number): z.ZodString {
  return z
    .string()
    .min(4)
    .max(4 * Math.ceil(maxBytes / 3))
    .regex(/^[A-Za-z0-9+/]+={0,2}$/, "not base64");
}

/** What a kit holds beside its program. Titles and names stand in the tickets, which are sealed. */
export const Kit = z.strictObject({
  v: z.literal(1),
  kind: z.literal("kit"),
  made_at: Timestamp,
  /** What the person wrote on it, to be read before anything is opened; perhaps empty. */
  note: z.string().max(maxKitNoteLength),
  user_id: Id,
  /** Public halves of the account's signing keys, today's first. */
  signing_keys: z
    .array(base64urlBytes(32, { exact: true }))
    .min(1)
    .max(64),
  /** The one picture that opens all of it. */
  image: z.strictObject({ id: Id, helper: base64urlBytes(helperBytes, { exact: true }) }),
  secrets: z
    .array(
      z.strictObject({
        secret_id: Id,
        version: PositiveInt,
        /** An owner ticket, sealed to the opener of the picture alone. */
        ticket: createBase64Schema(maxTicketBytes),
        /** The sealed content; null when it lies beside the kit, as {@link detachedContentName}. */
        content: createBase64Schema(maxKitBytes).nullable(),
      }),
    )
    .min(1)
    .max(maxKitSecrets),
});
export type Kit = z.infer<typeof Kit>;

/** Id of the element with the kit, and of those with the parts of its program. */
export const kitElementId = "kit-data";
export const partElementId = (name: string): string => `kit-part-${name}`;

/** Name of the sealed content that lies beside the kit. */
export function detachedContentName(secretId: string): string {
  return `${secretId}.age`;
}

export function toBase64(bytes: Uint8Array): string {
  return base64.encode(bytes);
}

/** @throws PortalError `decryption_failed`. */
export function fromBase64(text: string): Bytes {
  try {
    return copyOf(base64.decode(text));
  } catch {
    throw new PortalError("decryption_failed");
  }
}

/**
 * JCS of a kit in one line, every `<` escaped: inside a script element it stays text, whatever is
 * in it.
 */
export function serializeKit(kit: Kit): string {
  return stringifyCanonical(kit).replaceAll("<", String.raw`\u003c`);
}

/** SHA-256 of the line, as it stands beside it, in hex. */
export function computeKitTextDigest(text: string): string {
  return bytesToHex(sha256(utf8(text)));
}

/**
 * Reads the line.
 *
 * @throws PortalError `validation_error`, with `reason` in its details: `damaged` when it is not
 *   the one of this digest, `newer` for a kit of a later format, `not_a_kit`.
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

/** What makes a file no kit, or none that can be read. */
export type KitErrorReason = "not_a_kit" | "damaged" | "newer" | "too_large";

export function createKitError(reason: KitErrorReason): PortalError {
  return new PortalError("validation_error", { details: { reason } });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null; // no object, hence no kit
  }
}
