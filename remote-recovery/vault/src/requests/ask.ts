import {
  fromB64u,
  maxFileBytes,
  maxRequestNoteLength,
  maxRequestTitleLength,
  requestDays,
  Timestamp,
  toB64u,
  type CreateRequest,
} from "@relicario/shared/api";
import type { SecretRequest } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { makeKeyStatement } from "../seal/account-signatures.ts";
import { randomBytes, sha256, wipe, type Bytes } from "../seal/bytes.ts";
import { mostSealedBytes } from "../seal/content-pieces.ts";
import { timestamp } from "../seal/ids.ts";
import { linkAuth, newLinkKey } from "../seal/link.ts";
import { sealRequestDocument } from "../seal/request-document.ts";
import { openRequestsInner } from "../seal/requests.ts";
import { text, textOrNone } from "../seal/text.ts";
import type { Shown } from "../shown-image.ts";
import { check } from "../steps/check-request.ts";
import { readKeyring } from "../steps/read-keyring.ts";
import { requireAccountKey } from "../steps/show-opener.ts";
import type { ActOptions, VaultContext } from "../vault-context.ts";
import { publishRequests, requireEntry, withRequest } from "./requests-document.ts";

/** A request that was made. */
export interface MadeRequest {
  readonly requestId: string;
  /** Path and fragment of the link. */
  readonly link: string;
}

/**
 * Asks somebody for a secret: seals what is asked under a fresh link key, with the whole key
 * statement of this account in it, and publishes it with the document that names it.
 *
 * @throws PortalError those of {@link VaultRequests.create}; `no_keyring` before anything was ever
 *   kept.
 */
export async function askForSecret(
  vault: VaultContext,
  request: SecretRequest,
  shown: Shown | null,
  options: ActOptions = {},
): Promise<MadeRequest> {
  checkAsked(vault, request);
  const accountKey = await requireAccountKey(vault, shown, options);
  const requestId = toB64u(randomBytes(16));
  const linkKey = newLinkKey();
  try {
    const { title, note, askedBy, expiresAt, notify } = request;
    const maxSize = mostSealedBytes(request.maxSize);
    const createdAt = timestamp(vault.now());
    let document = "";
    await publishRequests(
      vault,
      {
        next: async ({ keys, requests }) => {
          options.onProgress?.({ phase: "sealing", done: 0, total: 1 });
          const statement = await makeKeyStatement(keys, vault.userId);
          document = await sealRequestDocument(linkKey, {
            v: 1,
            request_id: requestId,
            title,
            note,
            asked_by: askedBy,
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
          return withRequest(vault, accountKey, requests, entry, {
            request_id: requestId,
            link_key: toB64u(linkKey),
            note,
          });
        },
        isIn: ({ requests }) => requests.some(({ request_id: id }) => id === requestId),
        send: ({ keyring }) => {
          const body: CreateRequest = {
            request_id: requestId,
            document,
            link_auth_sha256: toB64u(sha256(linkAuth(linkKey))),
            expires_at: expiresAt,
            max_size: maxSize,
            notify,
            keyring,
          };
          return vault.service.requests.create(body);
        },
      },
      options,
    );
    return { requestId, link: linkTo(requestId, linkKey) };
  } finally {
    wipe(linkKey);
  }
}

/**
 * The link of a request once more.
 *
 * @throws PortalError `show_opener_first`, `not_found` (unknown, or revoked), and those of reading.
 */
export async function showRequestLink(
  vault: VaultContext,
  requestId: string,
  shown: Shown | null,
  options: ActOptions = {},
): Promise<string> {
  const accountKey = await requireAccountKey(vault, shown, options);
  const requests = (await readKeyring(vault, options.signal))?.opened?.requests ?? null;
  if (requests === null || requireEntry(requests, requestId).state === "revoked") throw new PortalError("not_found");
  const inner = await openRequestsInner(accountKey, vault.userId, requests);
  const kept = inner.requests.find(({ request_id: id }) => id === requestId);
  if (kept === undefined) throw new PortalError("not_found");
  return linkTo(requestId, fromB64u(kept.link_key));
}

function linkTo(requestId: string, linkKey: Bytes): string {
  return `/request/${requestId}#s=${toB64u(linkKey)}`;
}

/** @throws PortalError `validation_error` with the names of the members in `details.fields`. */
function checkAsked(vault: VaultContext, request: SecretRequest): void {
  const isAhead = (time: string): boolean => {
    const left = Date.parse(time) - vault.now();
    return left > 0 && left <= requestDays.most * 24 * 60 * 60 * 1000;
  };
  const Asked = z.object({
    title: text(maxRequestTitleLength),
    note: textOrNone(maxRequestNoteLength),
    askedBy: text(maxRequestTitleLength),
    expiresAt: Timestamp.refine(isAhead),
    maxSize: z.int().min(1).max(maxFileBytes),
    notify: z.boolean(),
  });
  check(Asked, request);
}
