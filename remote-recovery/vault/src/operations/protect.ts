import { isPortalError, PortalError } from "@relicario/shared/errors";

import type { MetadataKeys } from "../seal/account-key.ts";
import { newId, formatTimestamp } from "../seal/ids.ts";
import type { LabelContext } from "../seal/label.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import type { AccountView } from "../keyring/read-account.ts";
import { createOpenerChooser } from "../openers/choose-openers.ts";
import { validateProtectRequest } from "../secrets/validate-request.ts";
import { publishWithRetry, requireOpenedKeyring, type Attempt } from "../keyring/publish.ts";
import type { SignedChange } from "../session/keyring-views.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import {
  sealInlineContent,
  sealRow,
  type SecretDescription,
  type PublishableContent,
  type SealedRow,
} from "../secrets/seal-secret.ts";
import { buildFirstChange, buildNextChange } from "../keyring/build-keyring-change.ts";
import { unlock } from "../openers/unlock.ts";
import type { ProtectRequest } from "../rpc/presented-opener.ts";

export interface PublishedSecret {
  readonly secretId: string;
  readonly version: number;
}

/**
 * [Note: Protect sequence]
 * 1. The request is checked, the content is sealed once to a fresh content identity.
 * 2. Keyring and whole list are read and checked. None yet: this is the bootstrapping.
 * 3. Openers are chosen: from the book, or a picture that is compared with the book and enrolled.
 * 4. Ticket (signed, sealed to the openers), label, book, state and the signed keyring change are
 *    made.
 * 5. One call publishes all in one transaction.
 * 6. On `state_conflict` steps 2 to 5 are done anew, eight times with jitter; the sealed content
 *    stays.
 *
 * Bootstrapping: slot, book, shares, key statement and image record go in that same call. They are
 * stored as pending before they are sent, never with the account key; after a crash
 * `read-keyring.ts` settles whether they were published.
 *
 * @throws PortalError as the contract lists them. Nothing is half published.
 */
export async function protect(
  vault: VaultSession,
  request: ProtectRequest,
  options: OperationOptions = {},
): Promise<PublishedSecret> {
  validateProtectRequest(request);
  const content = await sealInlineContent(vault, request, options);
  return publishNewSecret(
    vault,
    { ...request, createdAt: formatTimestamp(vault.now()) },
    request.protection,
    content,
    options,
  );
}

/** Steps 2 to 6. */
export async function publishNewSecret(
  vault: VaultSession,
  description: SecretDescription,
  protection: ProtectRequest["protection"],
  content: PublishableContent,
  options: OperationOptions = {},
  secretId = newId(vault.now()),
): Promise<PublishedSecret> {
  const context: LabelContext = { secretId, version: 1, rev: 1 };
  const result: PublishedSecret = { secretId, version: context.version };
  const chooser = createOpenerChooser(vault, protection, options);

  const prepare = async (account: AccountView | null): Promise<Attempt<PublishedSecret>> => {
    const openedKeyring = requireOpenedKeyring(account);
    const { openers, enrolledImage, firstAccount } = await chooser.choose(openedKeyring);
    options.onProgress?.({ phase: "sealing", done: 1, total: 2 });
    const seal = (keys: MetadataKeys): Promise<SealedRow> =>
      sealRow(vault, keys, context, description, content, openers);
    const createAttempt = ({ label, ticket }: SealedRow, change: SignedChange): Attempt<PublishedSecret> => {
      const row = { secret_db_id: secretId, label, ticket, keyring: change.keyring };
      return { change, send: () => content.publish(row), result };
    };
    if (account === null || openedKeyring === null) {
      // an account begins with an image: without one nothing could open it
      if (firstAccount === null) throw new PortalError("opener_needed");
      const row = await seal(firstAccount.keys);
      return createAttempt(row, await buildFirstChange(vault, firstAccount, [row.root]));
    }
    const row = await seal(openedKeyring.keys);
    return createAttempt(
      row,
      await buildNextChange(vault, account, openedKeyring, [...account.rows.values(), row.root], { enrolledImage }),
    );
  };
  // a new random id: a row with it can only be ours
  const findPublished = (account: AccountView): PublishedSecret | null => (account.rows.has(secretId) ? result : null);
  const onConflict = async (account: AccountView | null): Promise<void> => {
    if (account === null) await joinExistingAccount(vault, protection, options);
  };
  try {
    return await publishWithRetry(vault, { prepare, findPublished, onConflict }, options);
  } finally {
    chooser.dispose();
  }
}

/**
 * A conflict at bootstrapping: another device was first, or our own answer got lost. Ours opens
 * under the pending key. Otherwise the picture that is shown now must open a slot of that keyring;
 * if it does not, the operation fails with `pending_dropped`, so that the person hears that another
 * account key is in use.
 */
async function joinExistingAccount(
  vault: VaultSession,
  protection: ProtectRequest["protection"],
  options: OperationOptions,
): Promise<void> {
  const view = await refreshKeyring(vault, options.signal, "drop");
  if (view?.openedKeyring !== null) return; // there is no keyring, or the pending keys opened it: it is ours
  try {
    if (protection.kind !== "picture") throw new PortalError("vault_locked");
    const { opener } = await unlock(vault, protection.picture, options);
    opener.wipe();
  } catch (cause) {
    if (isPortalError(cause, "cancelled")) throw cause;
    throw new PortalError("pending_dropped", { cause });
  }
}
