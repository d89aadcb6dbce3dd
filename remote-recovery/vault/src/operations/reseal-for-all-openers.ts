import { toBase64url } from "@relicario/shared/api";
import type { ResealedSecrets } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import type { BookOpener } from "../seal/book.ts";
import { sha256 } from "../seal/bytes.ts";
import { sealLabel } from "../seal/label.ts";
import type { OpenerKeys } from "../seal/opener.ts";
import { sealTicket } from "../seal/ticket.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";
import { readPortableSecret, type LabelledRow } from "../secrets/portable-secret.ts";
import { publishWithRetry, requireOpenedKeyring, type Attempt } from "../keyring/publish.ts";
import { openRowLabel, readAccount, requireRow, type AccountView } from "../keyring/read-account.ts";
import { requireVerifiedOpeners } from "../keyring/verified-openers.ts";
import type { OpenedKeyring } from "../session/keyring-views.ts";
import { toRootRow } from "../secrets/seal-secret.ts";
import { buildNextChange } from "../keyring/build-keyring-change.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { openableRows, bookWithOpeners } from "./openers.ts";
import { withPresentedOpener } from "../openers/with-presented-opener.ts";

/** Which openers a secret is to have, of those in the book as it is then. */
type OpenerSelector = (openers: readonly BookOpener[]) => readonly BookOpener[];

/**
 * Seals the tickets of all secrets that the shown opener opens to every opener of the book, one
 * signed change each: what is done stays done, and the next call goes on with the rest. Contents,
 * content identities and former versions stay as they are.
 *
 * @throws PortalError those of showing an opener, of recovering and of publishing.
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
 * Takes an opener out of the tickets that the shown one opens as well, then out of book and
 * keyring.
 *
 * @param options `acceptedLosses` names the secrets that nothing else opens.
 * @throws PortalError `not_found`, `validation_error` for the shown one itself, `last_opener`, and
 *   those of {@link resealForAllOpeners}.
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
 * @throws PortalError `last_opener` for the last image, and when it is the only way to other
 *   secrets than those named.
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
  const lostRows = (await openableRows(vault, account)).filter(
    ({ label }) => label.openers.includes(openerId) && !remainingOpeners.some(({ id }) => label.openers.includes(id)),
  );
  const acceptedIds = new Set(acceptedLosses);
  if (lostRows.some(({ row }) => !acceptedIds.has(row.secretId)))
    throw new PortalError("last_opener", { details: { secrets: lostRows.length } });
  return openedKeyring;
}

/**
 * {@link resealForAllOpeners} with an opener that is shown already. @param onlyOpenedBy only
 * secrets that this one opens
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
  await requireVerifiedOpeners(vault, openedKeyring);
  const rows = (await openableRows(vault, account)).filter(
    ({ label }) =>
      (onlyOpenedBy === undefined || label.openers.includes(onlyOpenedBy)) &&
      !hasSameOpeners(label.openers, selectOpeners(openedKeyring.book.openers)),
  );
  const skipped: string[] = [];
  for (const [index, labelledRow] of rows.entries()) {
    throwIfCancelled(options.signal);
    options.onProgress?.({ phase: "sealing", done: index, total: rows.length });
    if (!(await resealTicket(vault, labelledRow.row.secretId, opener, selectOpeners, options.signal)))
      skipped.push(labelledRow.row.secretId);
  }
  options.onProgress?.({ phase: "sealing", done: rows.length, total: rows.length });
  return { resealed: rows.length - skipped.length, skipped };
}

/** False for a secret that this opener does not open, or that this account did not sign. */
function resealTicket(
  vault: VaultSession,
  secretId: string,
  opener: OpenerKeys,
  selectOpeners: OpenerSelector,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const sentDigests = new Set<string>();
  const prepare = async (account: AccountView | null): Promise<Attempt<boolean> | { done: boolean }> => {
    if (account?.rows.has(secretId) !== true) return { done: true }; // removed for good meanwhile
    const { openedKeyring, row } = requireRow(account, secretId);
    await requireVerifiedOpeners(vault, openedKeyring);
    const previousLabel = await openRowLabel(vault.userId, openedKeyring.keys, row);
    const openers = selectOpeners(openedKeyring.book.openers);
    if (hasSameOpeners(previousLabel.openers, openers)) return { done: true };
    if (!previousLabel.openers.includes(opener.openerId) || openers.length === 0) return { done: false };
    const portable = await readPortableSecret(
      vault,
      openedKeyring,
      { row, label: previousLabel } satisfies LabelledRow,
      opener,
      signal === undefined ? {} : { signal },
    );
    if (portable.author !== "verified" || portable.row !== row) return { done: false };
    const context = { secretId, version: row.version, rev: row.rev + 1 };
    const { sig: _, ...ticket } = portable.ticket;
    const sealedTicket = await sealTicket(
      openedKeyring.keys,
      openers.map(({ recipient }) => recipient),
      { ...ticket, title: previousLabel.title, tags: previousLabel.tags, name: previousLabel.name, rev: context.rev },
    );
    const ids = openers.map(({ id }) => id);
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
        keyring: change.keyring,
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
    const currentKeyring = requireOpenedKeyring(account);
    const openerToRemove = currentKeyring?.book.openers.find(({ id }) => id === openerId);
    if (openerToRemove === undefined) return { done: "removed" };
    const openedKeyring = await requireRemovableOpener(vault, account, openerId, acceptedLosses);
    if (account === null || accountKey === null) throw new PortalError("show_opener_first");
    const openers = openedKeyring.book.openers.filter(({ id }) => id !== openerId);
    const images = openedKeyring.book.images.map((image) =>
      image.id === openerId ? { ...image, status: "removed" as const } : image,
    );
    const book = await bookWithOpeners(vault, accountKey, { ...openedKeyring.book, images }, openers);
    const removal = { set: [], remove: [openerId] };
    const change = await buildNextChange(vault, account, openedKeyring, [...account.rows.values()], {
      documents: { book },
      slots: removal,
      ...(openerToRemove.kind === "image" ? { imageRecords: removal } : {}),
    });
    return { change, send: () => vault.service.changeKeyring(change.keyring), result: "removed" };
  };
  const findPublished = ({ view }: AccountView): "removed" | null =>
    view.openedKeyring?.book.openers.some(({ id }) => id === openerId) === false ? "removed" : null;
  await publishWithRetry(vault, { prepare, findPublished }, options);
}
