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
 * 1. The request is validated, and the content is sealed once to a new content identity.
 * 2. Keyring and list are read and verified. Without a keyring, this creates the account.
 * 3. Openers are chosen from the book, or a picture is compared with the book and enrolled.
 * 4. Ticket (signed, sealed to the openers), label, book, state and signed keyring change are
 *    built.
 * 5. One call publishes everything in one transaction.
 * 6. On `state_conflict`, steps 2 to 5 repeat, up to eight times with jitter, with the same sealed
 *    content.
 *
 * A new account also publishes slot, book, shares, key statement and image record. They are saved
 * as pending before they are sent, without the account key. After a crash, the next reading of the
 * keyring finds out whether they were published.
 *
 * @throws PortalError as listed in the contract. Nothing is published in part.
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

/** Steps 2 to 6 of [Note: Protect sequence]. */
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
    const { openers, enrolledImage, newAccount } = await chooser.choose(openedKeyring);
    options.onProgress?.({ phase: "sealing", done: 1, total: 2 });
    const sealNewRow = (keys: MetadataKeys): Promise<SealedRow> =>
      sealRow(vault, keys, context, description, content, openers);
    const createAttempt = ({ root: _, ...sealed }: SealedRow, change: SignedChange): Attempt<PublishedSecret> => {
      const row = { secret_db_id: secretId, ...sealed, keyring: change.keyringChange };
      return { change, send: () => content.publish(row), result };
    };
    if (account === null || openedKeyring === null) {
      // without an image, nothing could open the new account
      if (newAccount === null) throw new PortalError("opener_needed");
      const row = await sealNewRow(newAccount.keys);
      return createAttempt(
        row,
        await buildFirstChange(vault, vault.requireAccountKeyOf(newAccount.keys), newAccount, [row.root]),
      );
    }
    const row = await sealNewRow(openedKeyring.keys);
    return createAttempt(
      row,
      await buildNextChange(vault, account, openedKeyring, [...account.rows.values(), row.root], { enrolledImage }),
    );
  };
  // the id is random and new, so a row with this id is ours
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
 * Handles a conflict while an account is created. If the pending keys open the keyring, the
 * response was lost and the account is ours. Otherwise another device was first, and the presented
 * picture must open a slot of its keyring. If it does not, throws `pending_dropped`, which tells
 * the person that another account key is in use.
 */
async function joinExistingAccount(
  vault: VaultSession,
  protection: ProtectRequest["protection"],
  options: OperationOptions,
): Promise<void> {
  const view = await refreshKeyring(vault, options.signal, "drop");
  if (view?.openedKeyring !== null) return; // no keyring yet, or the pending keys have opened it
  try {
    if (protection.kind !== "picture") throw new PortalError("vault_locked");
    const { opener } = await unlock(vault, protection.picture, options);
    opener.wipe();
  } catch (cause) {
    if (isPortalError(cause, "cancelled")) throw cause;
    throw new PortalError("pending_dropped", { cause });
  }
}
