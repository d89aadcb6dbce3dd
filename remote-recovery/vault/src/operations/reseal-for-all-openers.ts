import { toBase64url } from "@relicario/shared/api";
import type { ResealedSecrets } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import type { BookOpener } from "../seal/book.ts";
import { sha256 } from "../seal/bytes.ts";
import { sealLabel } from "../seal/label.ts";
import type { OpenerKeys } from "../seal/opener.ts";
import { signSealedTicket } from "../seal/account-signatures.ts";
import { sealTicket } from "../seal/ticket.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";
import { readPortableSecret, type LabelledRow } from "../secrets/portable-secret.ts";
import { publishWithRetry, requireOpenedKeyring, type Attempt } from "../keyring/publish.ts";
import { openRowLabel, readAccount, requireRow, type AccountView } from "../keyring/read-account.ts";
import { requireVerifiedInner } from "../keyring/verified-inner.ts";
import type { OpenedKeyring } from "../session/keyring-views.ts";
import { toRootRow } from "../secrets/seal-secret.ts";
import { buildNextChange } from "../keyring/build-keyring-change.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { readOpenableRows, buildBookWithOpeners } from "./openers.ts";
import { withPresentedOpener } from "../openers/with-presented-opener.ts";

type OpenerSelector = (openers: readonly BookOpener[]) => readonly BookOpener[];

/**
 * Seals the tickets of all secrets that the presented opener opens to every opener of the book.
 * Uses one signed change per secret, so that the next call continues after an interruption.
 * Contents, content identities and former versions do not change.
 *
 * @throws PortalError those of presenting, reading tickets and publishing
 */
export function resealForAllOpeners(
  vault: VaultSession,
  presentedOpener: PresentedOpener,
  options: OperationOptions = {},
): Promise<ResealedSecrets> {
  return withPresentedOpener(vault, presentedOpener, options, async (_account, presentOpener) =>
    resealAll(vault, await presentOpener(), (openers) => openers, options),
  );
}

/**
 * Removes an opener from the tickets that the presented opener also opens, then from book and
 * keyring.
 *
 * @param options `acceptedLosses` names secrets that may be lost because no other opener opens them
 * @throws PortalError `not_found`, `validation_error` for the presented opener itself,
 *   `last_opener`, and those of {@link resealForAllOpeners}
 */
export function removeOpener(
  vault: VaultSession,
  openerId: string,
  presentedOpener: PresentedOpener,
  { acceptedLosses = [], ...options }: OperationOptions & { readonly acceptedLosses?: readonly string[] } = {},
): Promise<void> {
  return withPresentedOpener(vault, presentedOpener, options, async (account, presentOpener) => {
    const opener = await presentOpener();
    if (opener.openerId === openerId) throw new PortalError("validation_error", { details: { fields: ["opener"] } });
    await requireRemovableOpener(vault, account, openerId, acceptedLosses);
    await resealAll(vault, opener, (openers) => openers.filter(({ id }) => id !== openerId), options, openerId);
    await removeFromBook(vault, openerId, acceptedLosses, options);
    await vault.device.update(({ passkeyOpener }) => (passkeyOpener === openerId ? { passkeyOpener: null } : null));
  });
}

/**
 * @throws PortalError `last_opener` for the last image, and if a secret outside `acceptedLosses`
 *   would have no opener
 */
async function requireRemovableOpener(
  vault: VaultSession,
  account: AccountView | null,
  openerId: string,
  acceptedLosses: readonly string[],
): Promise<OpenedKeyring> {
  const openedKeyring = requireOpenedKeyring(account);
  if (account === null || openedKeyring === null) throw new PortalError("no_keyring");
  const { openers } = openedKeyring.book;
  const openerToRemove = openers.find(({ id }) => id === openerId);
  if (openerToRemove === undefined) throw new PortalError("not_found");
  const remainingOpeners = openers.filter(({ id }) => id !== openerId);
  if (!remainingOpeners.some(({ kind }) => kind === "image")) throw new PortalError("last_opener");
  const lostRows = (await readOpenableRows(vault, account)).filter(
    ({ label }) => label.openers.includes(openerId) && !remainingOpeners.some(({ id }) => label.openers.includes(id)),
  );
  const acceptedIds = new Set(acceptedLosses);
  if (lostRows.some(({ row }) => !acceptedIds.has(row.secretId)))
    throw new PortalError("last_opener", { details: { secrets: lostRows.length } });
  return openedKeyring;
}

/**
 * Like {@link resealForAllOpeners}, with the keys of a recognised opener.
 *
 * @param onlyOpenedBy if set, only secrets that this opener opens
 */
export async function resealAll(
  vault: VaultSession,
  opener: OpenerKeys,
  selectOpeners: OpenerSelector,
  options: OperationOptions,
  onlyOpenedBy?: string,
): Promise<ResealedSecrets> {
  const account = await readAccount(vault, options.signal);
  const openedKeyring = requireOpenedKeyring(account);
  if (account === null || openedKeyring === null) throw new PortalError("no_keyring");
  await requireVerifiedInner(vault, openedKeyring);
  const rowsToReseal = (await readOpenableRows(vault, account)).filter(
    ({ label }) =>
      (onlyOpenedBy === undefined || label.openers.includes(onlyOpenedBy)) &&
      !hasSameOpeners(label.openers, selectOpeners(openedKeyring.book.openers)),
  );
  const skipped: string[] = [];
  for (const [index, labelledRow] of rowsToReseal.entries()) {
    throwIfCancelled(options.signal);
    options.onProgress?.({ phase: "sealing", done: index, total: rowsToReseal.length });
    if (!(await resealTicket(vault, labelledRow.row.secretId, opener, selectOpeners, options.signal)))
      skipped.push(labelledRow.row.secretId);
  }
  options.onProgress?.({ phase: "sealing", done: rowsToReseal.length, total: rowsToReseal.length });
  return { resealedCount: rowsToReseal.length - skipped.length, skippedIds: skipped };
}

/** Returns false if this opener does not open the secret, or this account did not sign it. */
function resealTicket(
  vault: VaultSession,
  secretId: string,
  opener: OpenerKeys,
  selectOpeners: OpenerSelector,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const sentDigests = new Set<string>();
  const prepare = async (account: AccountView | null): Promise<Attempt<boolean> | { done: boolean }> => {
    if (account?.rows.has(secretId) !== true) return { done: true }; // the secret was purged meanwhile
    const { openedKeyring, row } = requireRow(account, secretId);
    await requireVerifiedInner(vault, openedKeyring);
    const previousLabel = await openRowLabel(vault.userId, openedKeyring.keys, row);
    const openers = selectOpeners(openedKeyring.book.openers);
    if (hasSameOpeners(previousLabel.openers, openers)) return { done: true };
    if (!previousLabel.openers.includes(opener.openerId) || openers.length === 0) return { done: false };
    const portableSecret = await readPortableSecret(
      vault,
      openedKeyring,
      { row, label: previousLabel } satisfies LabelledRow,
      opener,
      signal === undefined ? {} : { signal },
    );
    if (portableSecret.signatureStatus !== "verified" || portableSecret.row !== row) return { done: false };
    const context = { secretId, version: row.version, rev: row.rev + 1 };
    const { sig: _, ...ticket } = portableSecret.ticket;
    const accountKey = vault.requireAccountKeyOf(openedKeyring.keys);
    const ids = openers.map(({ id }) => id);
    const { title, tags, name } = previousLabel;
    const sealedTicket = await sealTicket(
      accountKey,
      openers.map(({ recipient }) => recipient),
      { ...ticket, title, tags, name, openers: ids, rev: context.rev },
    );
    const signature = await signSealedTicket(accountKey, sealedTicket, {
      ...context,
      userId: vault.userId,
      shareId: null,
      contentSha256: ticket.content_sha256,
    });
    const label = await sealLabel(openedKeyring.keys, vault.userId, context, {
      ...previousLabel,
      openers: ids,
      ticket_sha256: toBase64url(sha256(sealedTicket)),
      rehearsed: previousLabel.rehearsed.filter((copyCheck) => ids.includes(copyCheck.opener_id)),
    });
    const root = toRootRow(context, label);
    sentDigests.add(root.labelHex);
    const otherRows = [...account.rows.values()].filter((otherRow) => otherRow.secretId !== secretId);
    const change = await buildNextChange(vault, account, openedKeyring, [...otherRows, root], {});
    const send = (): Promise<unknown> =>
      vault.service.store({
        secret_db_id: secretId,
        base_version: row.version,
        label,
        ticket: toBase64url(sealedTicket),
        ticket_sig: signature,
        keyring: change.keyringChange,
      });
    return { change, send, result: true };
  };
  const findPublished = (account: AccountView): boolean | null =>
    sentDigests.has(account.rows.get(secretId)?.labelHex ?? "") ? true : null;
  return publishWithRetry(vault, { prepare, findPublished }, signal === undefined ? {} : { signal });
}

function hasSameOpeners(ids: readonly string[], openers: readonly BookOpener[]): boolean {
  return ids.length === openers.length && openers.every(({ id }) => ids.includes(id));
}

async function removeFromBook(
  vault: VaultSession,
  openerId: string,
  acceptedLosses: readonly string[],
  options: OperationOptions,
): Promise<void> {
  const prepare = async (account: AccountView | null): Promise<Attempt<"removed"> | { done: "removed" }> => {
    const { accountKey } = vault;
    const latestKeyring = requireOpenedKeyring(account);
    const openerToRemove = latestKeyring?.book.openers.find(({ id }) => id === openerId);
    if (openerToRemove === undefined) return { done: "removed" };
    const openedKeyring = await requireRemovableOpener(vault, account, openerId, acceptedLosses);
    if (account === null || accountKey === null) throw new PortalError("show_opener_first");
    const openers = openedKeyring.book.openers.filter(({ id }) => id !== openerId);
    const images = openedKeyring.book.images.map((image) =>
      image.id === openerId ? { ...image, status: "removed" as const } : image,
    );
    const book = await buildBookWithOpeners(vault, accountKey, { ...openedKeyring.book, images }, openers);
    const removal = { set: [], remove: [openerId] };
    const change = await buildNextChange(vault, account, openedKeyring, [...account.rows.values()], {
      documents: { book },
      slots: removal,
      ...(openerToRemove.kind === "image" ? { imageRecords: removal } : {}),
    });
    return { change, send: () => vault.service.changeKeyring(change.keyringChange), result: "removed" };
  };
  const findPublished = ({ view }: AccountView): "removed" | null =>
    view.openedKeyring?.book.openers.some(({ id }) => id === openerId) === false ? "removed" : null;
  await publishWithRetry(vault, { prepare, findPublished }, options);
}
