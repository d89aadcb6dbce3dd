import {
  fromBase64url,
  maxFileBytes,
  maxRequestNoteLength,
  maxRequestTitleLength,
  requestLifetimeDays,
  Timestamp,
  toBase64url,
  type CreateRequestBody,
} from "@relicario/shared/api";
import type { SecretRequest } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { createKeyStatement } from "../seal/account-signatures.ts";
import { randomBytes, sha256, wipe, type Bytes } from "../seal/bytes.ts";
import { computeMaxSealedLength } from "../seal/content-sizes.ts";
import { formatTimestamp } from "../seal/ids.ts";
import { deriveLinkAuth, generateLinkKey } from "../seal/link-keys.ts";
import { sealRequestDocument } from "../seal/request-document.ts";
import { openRequestsInner } from "../seal/requests.ts";
import { nonEmptyText, boundedText } from "../seal/text.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";
import { validate } from "../secrets/validate-request.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import { obtainAccountKey } from "../openers/obtain-account-key.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { publishRequests, requireRequestEntry, addRequestEntry } from "./requests-document.ts";

export interface CreatedRequest {
  readonly requestId: string;
  /** Path and fragment of the link. */
  readonly link: string;
}

/**
 * Seals a request under a new link key, with the full key statement of this account. Publishes the
 * request together with the document that lists it.
 *
 * @throws PortalError those of {@link VaultRequests.create}; `no_keyring` before the first secret
 */
export async function createRequest(
  vault: VaultSession,
  request: SecretRequest,
  presentedOpener: PresentedOpener | null,
  options: OperationOptions = {},
): Promise<CreatedRequest> {
  validateRequestInput(vault, request);
  await obtainAccountKey(vault, presentedOpener, options);
  const requestId = toBase64url(randomBytes(16));
  const linkKey = generateLinkKey();
  try {
    const { title, note, requesterName, expiresAt, notify } = request;
    const maxSize = computeMaxSealedLength(request.maxSize);
    const createdAt = formatTimestamp(vault.now());
    let document = "";
    await publishRequests(
      vault,
      {
        buildDocument: async ({ keys, requests }) => {
          options.onProgress?.({ phase: "sealing", done: 0, total: 1 });
          const statement = await createKeyStatement(vault.requireAccountKeyOf(keys), vault.userId);
          document = await sealRequestDocument(linkKey, {
            v: 1,
            request_id: requestId,
            title,
            note,
            asked_by: requesterName,
            statement,
            expires_at: expiresAt,
            max_size: maxSize,
          });
          const entry = {
            request_id: requestId,
            title,
            created_at: createdAt,
            expires_at: expiresAt,
            state: "open",
            answer_sha256: null,
          } as const;
          // the account key of this attempt, because a rotation may have run since
          return addRequestEntry(vault, vault.requireAccountKeyOf(keys), requests, entry, {
            request_id: requestId,
            link_key: toBase64url(linkKey),
            note,
          });
        },
        isApplied: ({ requests }) => requests.some(({ request_id: id }) => id === requestId),
        send: ({ keyringChange }) => {
          const body: CreateRequestBody = {
            request_id: requestId,
            document,
            link_auth_sha256: toBase64url(sha256(deriveLinkAuth(linkKey))),
            expires_at: expiresAt,
            max_size: maxSize,
            notify,
            keyring: keyringChange,
          };
          return vault.service.requests.create(body);
        },
      },
      options,
    );
    return { requestId, link: buildRequestLink(requestId, linkKey) };
  } finally {
    wipe(linkKey);
  }
}

/**
 * @throws PortalError `show_opener_first`, `not_found` (unknown or revoked), and errors of reading
 */
export async function revealRequestLink(
  vault: VaultSession,
  requestId: string,
  presentedOpener: PresentedOpener | null,
  options: OperationOptions = {},
): Promise<string> {
  const accountKey = await obtainAccountKey(vault, presentedOpener, options);
  const requests = (await refreshKeyring(vault, options.signal))?.openedKeyring?.requests ?? null;
  if (requests === null || requireRequestEntry(requests, requestId).state === "revoked")
    throw new PortalError("not_found");
  const inner = await openRequestsInner(accountKey, vault.userId, requests);
  const innerEntry = inner.requests.find(({ request_id: id }) => id === requestId);
  if (innerEntry === undefined) throw new PortalError("not_found");
  return buildRequestLink(requestId, fromBase64url(innerEntry.link_key));
}

function buildRequestLink(requestId: string, linkKey: Bytes): string {
  return `/request/${requestId}#s=${toBase64url(linkKey)}`;
}

/** @throws PortalError `validation_error` with the invalid members in `details.fields` */
function validateRequestInput(vault: VaultSession, request: SecretRequest): void {
  const isAllowedExpiry = (time: string): boolean => {
    const remaining = Date.parse(time) - vault.now();
    return remaining > 0 && remaining <= requestLifetimeDays.maximum * 24 * 60 * 60 * 1000;
  };
  const RequestInput = z.object({
    title: nonEmptyText(maxRequestTitleLength),
    note: boundedText(maxRequestNoteLength),
    requesterName: nonEmptyText(maxRequestTitleLength),
    expiresAt: Timestamp.refine(isAllowedExpiry),
    maxSize: z.int().min(1).max(maxFileBytes),
    notify: z.boolean(),
  });
  validate(RequestInput, request);
}
