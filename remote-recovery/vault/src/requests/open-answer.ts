import { fromB64u, toB64u } from "@relicario/shared/api";
import type { OpenedAnswer } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { refuseCancelled } from "../cancelled.ts";
import { sha256, withSecret, type Bytes } from "../seal/bytes.ts";
import { openProvided, receiptWords } from "../seal/provided.ts";
import { openRequestsInner, type Requests } from "../seal/requests.ts";
import { contentOf, mimeOf, nameOf } from "../shares/open-claimed.ts";
import type { Shown } from "../shown-image.ts";
import { accountIdentities } from "../steps/account-identities.ts";
import { readKeyring } from "../steps/read-keyring.ts";
import { requireAccountKey } from "../steps/show-opener.ts";
import type { ActOptions, VaultContext } from "../vault-context.ts";
import type { SealedContentKey } from "../worker/opened-contents.ts";
import { publishRequests, requireEntry, withEntry } from "./requests-document.ts";

/** An opened answer, with what opens its content once more, in pieces. */
export type OpenedHere = Omit<OpenedAnswer, "save" | "putAway"> & {
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
  vault: VaultContext,
  requestId: string,
  shown: Shown | null,
  options: ActOptions = {},
): Promise<OpenedHere> {
  const accountKey = await requireAccountKey(vault, shown, options);
  const opened = (await readKeyring(vault, options.signal))?.opened ?? null;
  if (opened === null) throw new PortalError("vault_locked");
  const { requests, book } = opened;
  if (requests === null || requireEntry(requests, requestId).state === "revoked") throw new PortalError("not_found");
  options.onProgress?.({ phase: "fetching", done: 0, total: 1 });
  const answer = await vault.service.requests.collect(requestId, options.signal);
  const sealedTicket = fromB64u(answer.ticket);
  const digest = sha256(sealedTicket);
  refuseAnother(requests, requestId, toB64u(digest));

  const inner = await openRequestsInner(accountKey, vault.userId, requests);
  const kept = inner.requests.find(({ request_id: id }) => id === requestId);
  if (kept === undefined) throw new PortalError("decryption_failed");
  const identities = await accountIdentities(vault, accountKey, book);
  const ticket = await withSecret(fromB64u(kept.link_key), (linkKey) =>
    openProvided(identities, linkKey, requestId, sealedTicket),
  );
  refuseCancelled(options.signal);
  await noteOpened(vault, requestId, toB64u(digest), options.signal);

  const sealed: SealedContentKey = {
    token: answer.download.token,
    identity: ticket.content_identity,
    sha256: ticket.content_sha256,
    kind: ticket.content_kind,
    size: ticket.size,
  };
  const content = await contentOf(vault.service.content, { sealed }, answer, options);
  return {
    requestId,
    contentKind: ticket.content_kind,
    name: nameOf(ticket),
    mime: mimeOf(ticket),
    size: ticket.size,
    note: ticket.note,
    createdAt: ticket.created_at,
    words: receiptWords(digest),
    content,
    sealed,
  };
}

/** @throws PortalError `decryption_failed` when another answer was opened before. */
function refuseAnother(requests: Requests, requestId: string, digest: string): void {
  const { answer_sha256: first } = requireEntry(requests, requestId);
  if (first !== null && first !== digest) throw new PortalError("decryption_failed");
}

/** Step 3. */
async function noteOpened(
  vault: VaultContext,
  requestId: string,
  digest: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  await publishRequests(
    vault,
    {
      next: async ({ requests }) => {
        const { answer_sha256: first } = requireEntry(requests, requestId);
        if (requests !== null) refuseAnother(requests, requestId, digest);
        return requests === null || first !== null
          ? null
          : withEntry(requests, requestId, (entry) => ({ ...entry, answer_sha256: digest }));
      },
      isIn: ({ requests }) =>
        requests.some(({ request_id: id, answer_sha256: noted }) => id === requestId && noted === digest),
      send: ({ keyring }) => vault.service.changeKeyring(keyring),
    },
    signal === undefined ? {} : { signal },
  );
}
