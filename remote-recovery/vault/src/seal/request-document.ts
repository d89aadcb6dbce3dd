import {
  KeyStatement,
  maxRequestNoteLength,
  maxRequestTitleLength,
  maxSealedBytes,
  RequestId,
  Timestamp,
} from "@relicario/shared/api";
import { isSelfSigned } from "@relicario/shared/api/signatures";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { isRecipient } from "./age.ts";
import type { Bytes } from "./bytes.ts";
import { jweTypes, openJwe, sealJwe } from "./document.ts";
import { deriveLinkAesKey } from "./link-keys.ts";
import { boundedText } from "./text.ts";

/**
 * Content of a request, and its requester. Sealed with a key of the link, so that only people with
 * the link can answer or change it.
 */
export const RequestDocument = z.strictObject({
  v: z.literal(1),
  request_id: RequestId,
  title: boundedText(maxRequestTitleLength),
  note: boundedText(maxRequestNoteLength),
  /** Name that the requester typed; only the link vouches for it. */
  asked_by: boundedText(maxRequestTitleLength),
  /** The requester's whole key statement; the answer is sealed to its recipient. */
  statement: KeyStatement,
  expires_at: Timestamp,
  /** Maximum length of the sealed answer in bytes. */
  max_size: z.int().min(1).max(maxSealedBytes),
});
export type RequestDocument = z.infer<typeof RequestDocument>;

export async function sealRequestDocument(linkKey: Bytes, document: RequestDocument): Promise<string> {
  return sealJwe(await deriveRequestKey(linkKey), createJweHeader(document.request_id), document);
}

/**
 * Opens the document of one request. Its key statement must be signed by the key it names and have
 * a hybrid recipient. A replacement from the service does not open.
 *
 * @throws PortalError `decryption_failed`
 */
export async function openRequestDocument(linkKey: Bytes, requestId: string, jwe: string): Promise<RequestDocument> {
  const document = await openJwe(await deriveRequestKey(linkKey), createJweHeader(requestId), jwe, RequestDocument);
  const { statement } = document;
  const matches = document.request_id === requestId && isRecipient(statement.recipient) && isSelfSigned(statement);
  if (!matches) throw new PortalError("decryption_failed");
  return document;
}

function deriveRequestKey(linkKey: Bytes): Promise<CryptoKey> {
  return deriveLinkAesKey(linkKey, "relicario/v1/request");
}

function createJweHeader(requestId: string) {
  return { typ: jweTypes.request, request_id: requestId };
}
