import { toB64u } from "@relicario/shared/api";
import type { CoveredSecrets } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { refuseCancelled } from "../cancelled.ts";
import type { BookOpener } from "../seal/book.ts";
import { sha256 } from "../seal/bytes.ts";
import { sealLabel } from "../seal/label.ts";
import type { ShownOpener } from "../seal/opener.ts";
import { sealTicket } from "../seal/ticket.ts";
import type { Shown } from "../shown-image.ts";
import { readLeaving, type LabelledRow } from "../steps/leaving-secret.ts";
import { publishUntilItFits, requireOpened, type Attempt } from "../steps/publish.ts";
import { labelOf, readAccount, requireRow, type AccountView } from "../steps/read-account.ts";
import { requireCheckedOpeners, type OpenedKeyring } from "../steps/read-keyring.ts";
import { rootRow } from "../steps/sealed-secret.ts";
import { nextChange } from "../steps/signed-change.ts";
import type { ActOptions, VaultContext } from "../vault-context.ts";
import { openableRows, withOpeners } from "./openers.ts";
import { withShownOpener } from "./recover.ts";

/** Which openers a secret is to have, of those in the book as it is then. */
type Wanted = (openers: readonly BookOpener[]) => readonly BookOpener[];

/**
 * Seals the tickets of all secrets that the shown opener opens to every opener of the book, one
 * signed change each: what is done stays done, and the next call goes on with the rest. Contents,
 * content identities and former versions stay as they are.
 *
 * @throws PortalError those of showing an opener, of recovering and of publishing.
 */
export function cover(vault: VaultContext, shown: Shown, options: ActOptions = {}): Promise<CoveredSecrets> {
  return withShownOpener(vault, shown, options, async (_account, show) =>
    sealAll(vault, await show(), (openers) => openers, options),
  );
}

/**
 * Takes an opener out of the tickets that the shown one opens as well, then out of book and
 * keyring.
 *
 * @param options `losing` names the secrets that nothing else opens.
 * @throws PortalError `not_found`, `validation_error` for the shown one itself, `last_opener`, and
 *   those of {@link cover}.
 */
export function removeOpener(
  vault: VaultContext,
  openerId: string,
  shown: Shown,
  { losing = [], ...options }: ActOptions & { readonly losing?: readonly string[] } = {},
): Promise<void> {
  return withShownOpener(vault, shown, options, async (account, show) => {
    const opener = await show();
    if (opener.openerId === openerId) throw new PortalError("validation_error", { details: { fields: ["opener"] } });
    await refuseLast(vault, account, openerId, losing);
    await sealAll(vault, opener, (openers) => openers.filter(({ id }) => id !== openerId), options, openerId);
    await takeOut(vault, openerId, losing, options);
    await vault.device.update(({ passkeyOpener }) => (passkeyOpener === openerId ? { passkeyOpener: null } : null));
  });
}

/**
 * @throws PortalError `last_opener` for the last image, and when it is the only way to other
 *   secrets than those named.
 */
async function refuseLast(
  vault: VaultContext,
  account: AccountView | null,
  openerId: string,
  losing: readonly string[],
): Promise<OpenedKeyring> {
  const opened = requireOpened(account);
  if (account === null || opened === null) throw new PortalError("no_keyring");
  const { openers } = opened.book;
  const going = openers.find(({ id }) => id === openerId);
  if (going === undefined) throw new PortalError("not_found");
  const left = openers.filter(({ id }) => id !== openerId);
  if (!left.some(({ kind }) => kind === "image")) throw new PortalError("last_opener");
  const lost = (await openableRows(vault, account)).filter(
    ({ label }) => label.openers.includes(openerId) && !left.some(({ id }) => label.openers.includes(id)),
  );
  const named = new Set(losing);
  if (lost.some(({ row }) => !named.has(row.secretId)))
    throw new PortalError("last_opener", { details: { secrets: lost.length } });
  return opened;
}

/**
 * {@link cover} with an opener that is shown already. @param among only secrets that this one opens
 */
export async function sealAll(
  vault: VaultContext,
  opener: ShownOpener,
  wanted: Wanted,
  options: ActOptions,
  among?: string,
): Promise<CoveredSecrets> {
  const account = await readAccount(vault, options.signal);
  const opened = requireOpened(account);
  if (account === null || opened === null) throw new PortalError("no_keyring");
  await requireCheckedOpeners(vault, opened);
  const rows = (await openableRows(vault, account)).filter(
    ({ label }) =>
      (among === undefined || label.openers.includes(among)) && !fits(label.openers, wanted(opened.book.openers)),
  );
  const left: string[] = [];
  for (const [index, row] of rows.entries()) {
    refuseCancelled(options.signal);
    options.onProgress?.({ phase: "sealing", done: index, total: rows.length });
    if (!(await sealAnew(vault, row.row.secretId, opener, wanted, options.signal))) left.push(row.row.secretId);
  }
  options.onProgress?.({ phase: "sealing", done: rows.length, total: rows.length });
  return { covered: rows.length - left.length, left };
}

/** False for a secret that this opener does not open, or that this account did not sign. */
function sealAnew(
  vault: VaultContext,
  secretId: string,
  opener: ShownOpener,
  wanted: Wanted,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const sent = new Set<string>();
  const prepare = async (account: AccountView | null): Promise<Attempt<boolean> | { done: boolean }> => {
    if (account?.rows.has(secretId) !== true) return { done: true }; // removed for good meanwhile
    const { opened, row } = requireRow(account, secretId);
    await requireCheckedOpeners(vault, opened);
    const before = await labelOf(vault.userId, opened.keys, row);
    const openers = wanted(opened.book.openers);
    if (fits(before.openers, openers)) return { done: true };
    if (!before.openers.includes(opener.openerId) || openers.length === 0) return { done: false };
    const read = await readLeaving(
      vault,
      opened,
      { row, label: before } satisfies LabelledRow,
      opener,
      signal === undefined ? {} : { signal },
    );
    if (read.author !== "verified" || read.row !== row) return { done: false };
    const place = { secretId, version: row.version, rev: row.rev + 1 };
    const { sig: _, ...ticket } = read.ticket;
    const sealed = await sealTicket(
      opened.keys,
      openers.map(({ recipient }) => recipient),
      { ...ticket, title: before.title, tags: before.tags, name: before.name, rev: place.rev },
    );
    const ids = openers.map(({ id }) => id);
    const label = await sealLabel(opened.keys, vault.userId, place, {
      ...before,
      openers: ids,
      ticket_sha256: toB64u(sha256(sealed)),
      rehearsed: before.rehearsed.filter((one) => ids.includes(one.opener_id)),
    });
    const root = rootRow(place, label);
    sent.add(root.labelHex);
    const others = [...account.rows.values()].filter((one) => one.secretId !== secretId);
    const change = await nextChange(vault, account, opened, [...others, root], {});
    const send = (): Promise<unknown> =>
      vault.service.store({
        secret_db_id: secretId,
        base_version: row.version,
        label,
        ticket: toB64u(sealed),
        keyring: change.keyring,
      });
    return { change, send, result: true };
  };
  const published = (account: AccountView): boolean | null =>
    sent.has(account.rows.get(secretId)?.labelHex ?? "") ? true : null;
  return publishUntilItFits(vault, { prepare, published }, signal === undefined ? {} : { signal });
}

function fits(ids: readonly string[], openers: readonly BookOpener[]): boolean {
  return ids.length === openers.length && openers.every(({ id }) => ids.includes(id));
}

async function takeOut(
  vault: VaultContext,
  openerId: string,
  losing: readonly string[],
  options: ActOptions,
): Promise<void> {
  const prepare = async (account: AccountView | null): Promise<Attempt<"gone"> | { done: "gone" }> => {
    const { accountKey } = vault;
    const now = requireOpened(account);
    const going = now?.book.openers.find(({ id }) => id === openerId);
    if (going === undefined) return { done: "gone" };
    const opened = await refuseLast(vault, account, openerId, losing);
    if (account === null || accountKey === null) throw new PortalError("show_opener_first");
    const openers = opened.book.openers.filter(({ id }) => id !== openerId);
    const images = opened.book.images.map((image) =>
      image.id === openerId ? { ...image, status: "removed" as const } : image,
    );
    const book = await withOpeners(vault, accountKey, { ...opened.book, images }, openers);
    const gone = { set: [], remove: [openerId] };
    const change = await nextChange(vault, account, opened, [...account.rows.values()], {
      documents: { book },
      slots: gone,
      ...(going.kind === "image" ? { imageRecords: gone } : {}),
    });
    return { change, send: () => vault.service.changeKeyring(change.keyring), result: "gone" };
  };
  const published = ({ view }: AccountView): "gone" | null =>
    view.opened?.book.openers.some(({ id }) => id === openerId) === false ? "gone" : null;
  await publishUntilItFits(vault, { prepare, published }, options);
}
