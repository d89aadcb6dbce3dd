import { fromBase64url, toBase64url } from "@relicario/shared/api";
import type { OpenedAnswer } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import { sha256, withWipedBytes, type Bytes } from "../seal/bytes.ts";
import { openProvidedTicket, deriveReceiptWords } from "../seal/provided-ticket.ts";
import { openRequestsInner, type Requests } from "../seal/requests.ts";
import { fetchSmallContent, getMimeType, getDisplayName } from "../shares/open-claimed-ticket.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";
import { deriveAccountIdentities } from "../keyring/account-identities.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import { obtainAccountKey } from "../openers/obtain-account-key.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import type { SealedContentKey } from "../transfer/opened-content-store.ts";
import { publishRequests, requireRequestEntry, changeRequestEntry } from "./requests-document.ts";

/** An opened answer, with the key that opens its content again in ranges. */
export type OpenedAnswerContent = Omit<OpenedAnswer, "handle" | "View" | "dispose"> & {
  readonly content: Bytes | null;
  readonly sealed: SealedContentKey;
};

/**
 * [Note: Opening an answer]
 * 1. A presented opener gives the account key, which opens the link key in the document's `inner`.
 *    The account's identity opens the ticket.
 * 2. If an answer was opened before, the ticket must be the same. Its mac, under a key of the link,
 *    and its request must match. So the service can neither forge an answer nor substitute that of
 *    another request.
 * 3. The ticket's digest is published in the requests document before anything is shown. After
 *    that, any other answer is refused.
 * 4. The content is fetched and opened with the ticket's key.
 *
 * @throws PortalError those of {@link VaultRequests.open}
 */
export async function openAnswer(
  vault: VaultSession,
  requestId: string,
  presentedOpener: PresentedOpener | null,
  options: OperationOptions = {},
): Promise<OpenedAnswerContent> {
  const accountKey = await obtainAccountKey(vault, presentedOpener, options);
  const openedKeyring = (await refreshKeyring(vault, options.signal))?.openedKeyring ?? null;
  if (openedKeyring === null) throw new PortalError("vault_locked");
  const { requests, book } = openedKeyring;
  if (requests === null || requireRequestEntry(requests, requestId).state === "revoked")
    throw new PortalError("not_found");
  options.onProgress?.({ phase: "fetching", done: 0, total: 1 });
  const answer = await vault.service.requests.collect(requestId, options.signal);
  const sealedTicket = fromBase64url(answer.ticket);
  const digest = sha256(sealedTicket);
  requireSameAnswer(requests, requestId, toBase64url(digest));

  const inner = await openRequestsInner(accountKey, vault.userId, requests);
  const innerEntry = inner.requests.find(({ request_id: id }) => id === requestId);
  if (innerEntry === undefined) throw new PortalError("decryption_failed");
  const identities = await deriveAccountIdentities(vault, accountKey, book);
  const ticket = await withWipedBytes(fromBase64url(innerEntry.link_key), (linkKey) =>
    openProvidedTicket(identities, linkKey, requestId, sealedTicket),
  );
  throwIfCancelled(options.signal);
  await recordOpenedAnswer(vault, requestId, toBase64url(digest), options.signal);

  const sealed: SealedContentKey = {
    token: answer.download.token,
    identity: ticket.content_identity,
    sha256: ticket.content_sha256,
    kind: ticket.content_kind,
    size: ticket.size,
  };
  const content = await fetchSmallContent(vault.service.content, { sealed }, answer, options);
  return {
    requestId,
    contentKind: ticket.content_kind,
    name: getDisplayName(ticket),
    mime: getMimeType(ticket),
    size: ticket.size,
    note: ticket.note,
    createdAt: ticket.created_at,
    receiptWords: deriveReceiptWords(digest),
    content,
    sealed,
  };
}

/** @throws PortalError `decryption_failed` if another answer was opened before */
function requireSameAnswer(requests: Requests, requestId: string, digest: string): void {
  const { answer_sha256: recordedDigest } = requireRequestEntry(requests, requestId);
  if (recordedDigest !== null && recordedDigest !== digest) throw new PortalError("decryption_failed");
}

/** Step 3 of [Note: Opening an answer]. */
async function recordOpenedAnswer(
  vault: VaultSession,
  requestId: string,
  digest: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  await publishRequests(
    vault,
    {
      buildDocument: async ({ requests }) => {
        const { answer_sha256: recordedDigest } = requireRequestEntry(requests, requestId);
        if (requests !== null) requireSameAnswer(requests, requestId, digest);
        return requests === null || recordedDigest !== null
          ? null
          : changeRequestEntry(requests, requestId, (entry) => ({ ...entry, answer_sha256: digest }));
      },
      isApplied: ({ requests }) =>
        requests.some(
          ({ request_id: id, answer_sha256: recordedDigest }) => id === requestId && recordedDigest === digest,
        ),
      send: ({ keyringChange }) => vault.service.changeKeyring(keyringChange),
    },
    signal === undefined ? {} : { signal },
  );
}
