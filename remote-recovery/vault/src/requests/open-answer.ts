import { fromBase64url, toBase64url } from "@relicario/shared/api";
import type { OpenedAnswer } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import { sha256, withWipedBytes, type Bytes } from "../seal/bytes.ts";
import { openProvidedTicket, deriveReceiptWords } from "../seal/provided-ticket.ts";
import { openRequestsInner, type Requests } from "../seal/requests.ts";
import { fetchSmallContent, mimeOf, displayNameOf } from "../shares/open-claimed-ticket.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";
import { deriveAccountIdentities } from "../keyring/account-identities.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import { requireAccountKey } from "../openers/require-account-key.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import type { SealedContentKey } from "../transfer/opened-content-store.ts";
import { publishRequests, requireEntry, withEntry } from "./requests-document.ts";

/** An opened answer, with what opens its content once more, in pieces. */
export type OpenedAnswerContent = Omit<OpenedAnswer, "save" | "dispose"> & {
  readonly content: Bytes | null;
  readonly sealed: SealedContentKey;
};

/**
 * [Note: Opening an answer]
 * 1. The account key, by an opener that is shown. Its inner documents hold the link key, its
 *    identity opens the ticket.
 * 2. The ticket: only the one that was opened before, if one was; then its mac, under a key of the
 *    link, and its request. So the service can neither answer by itself nor put the answer of
 *    another request in its place.
 * 3. Its digest is published in the requests document, before anything is shown: another answer is
 *    refused from now on.
 * 4. The content, by what the ticket says of it.
 *
 * @throws PortalError those of {@link VaultRequests.open}.
 */
export async function openAnswer(
  vault: VaultSession,
  requestId: string,
  presentedOpener: PresentedOpener | null,
  options: OperationOptions = {},
): Promise<OpenedAnswerContent> {
  const accountKey = await requireAccountKey(vault, presentedOpener, options);
  const openedKeyring = (await refreshKeyring(vault, options.signal))?.openedKeyring ?? null;
  if (openedKeyring === null) throw new PortalError("vault_locked");
  const { requests, book } = openedKeyring;
  if (requests === null || requireEntry(requests, requestId).state === "revoked") throw new PortalError("not_found");
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
    name: displayNameOf(ticket),
    mime: mimeOf(ticket),
    size: ticket.size,
    note: ticket.note,
    createdAt: ticket.created_at,
    receiptWords: deriveReceiptWords(digest),
    content,
    sealed,
  };
}

/** @throws PortalError `decryption_failed` when another answer was opened before. */
function requireSameAnswer(requests: Requests, requestId: string, digest: string): void {
  const { answer_sha256: recordedDigest } = requireEntry(requests, requestId);
  if (recordedDigest !== null && recordedDigest !== digest) throw new PortalError("decryption_failed");
}

/** Step 3. */
async function recordOpenedAnswer(
  vault: VaultSession,
  requestId: string,
  digest: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  await publishRequests(
    vault,
    {
      next: async ({ requests }) => {
        const { answer_sha256: recordedDigest } = requireEntry(requests, requestId);
        if (requests !== null) requireSameAnswer(requests, requestId, digest);
        return requests === null || recordedDigest !== null
          ? null
          : withEntry(requests, requestId, (entry) => ({ ...entry, answer_sha256: digest }));
      },
      isApplied: ({ requests }) =>
        requests.some(
          ({ request_id: id, answer_sha256: recordedDigest }) => id === requestId && recordedDigest === digest,
        ),
      send: ({ keyring }) => vault.service.changeKeyring(keyring),
    },
    signal === undefined ? {} : { signal },
  );
}
