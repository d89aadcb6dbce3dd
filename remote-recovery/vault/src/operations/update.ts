import { isPortalError, PortalError } from "@relicario/shared/errors";

import { formatTimestamp } from "../seal/ids.ts";
import { sealLabel, type Label } from "../seal/label.ts";
import type { AccountRow } from "../session/list-cache.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { openRowLabel, readAccount, requireRow, type AccountView } from "../keyring/read-account.ts";
import { createOpenerChooser, type ChosenOpeners } from "../openers/choose-openers.ts";
import { computeNextFormerDigest } from "../secrets/former-versions.ts";
import { validateSecretChange } from "../secrets/validate-request.ts";
import { publishWithRetry, type Attempt } from "../keyring/publish.ts";
import {
  sealInlineContent,
  toRootRow,
  sealRow,
  type ChosenContent,
  type PublishableContent,
} from "../secrets/seal-secret.ts";
import { requireVerifiedInner } from "../keyring/verified-inner.ts";
import type { OpenedKeyring } from "../session/keyring-views.ts";
import { buildNextChange } from "../keyring/build-keyring-change.ts";
import type { ProtectRequest, SecretChange } from "../rpc/presented-opener.ts";

export interface SavedVersion {
  readonly version: number;
}

/**
 * The label that an edit started from. Without `rev`, only another version conflicts, and a title
 * or tags that changed meanwhile are kept.
 */
interface EditBase {
  readonly version: number;
  readonly rev: number | undefined;
}

/**
 * Without content, publishes a new label of the same version, with a higher `rev`. With content,
 * publishes a new version with its own content identity. The version is sealed to the label's
 * openers that are still in the book, or to those of `protection`; its label commits to all former
 * versions. Content needs the account key, a label alone does not.
 *
 * @throws PortalError `version_conflict` if another device has saved first, `too_many_versions`,
 *   `validation_error`, `not_found`, `vault_locked`, `opener_needed`, and errors of publishing
 */
export async function update(
  vault: VaultSession,
  secretId: string,
  change: SecretChange,
  options: OperationOptions = {},
): Promise<SavedVersion> {
  validateSecretChange(change);
  const base: EditBase = { version: change.baseVersion, rev: change.baseRev };
  const { content } = change;
  if (content === undefined) return relabel(vault, secretId, base, change, options);
  // checks before a large content is sealed and sent for nothing
  await assertNoConflict(vault, secretId, base, options.signal);
  const publishable = await sealInlineContent(vault, content, options);
  return publishVersion(vault, secretId, base, { ...change, content }, publishable, options);
}

async function assertNoConflict(
  vault: VaultSession,
  secretId: string,
  base: EditBase,
  signal?: AbortSignal,
): Promise<void> {
  const { row } = requireRow(await readAccount(vault, signal), secretId);
  requireUnchanged(row, base);
}

type TitleAndTags = Pick<SecretChange, "title" | "tags">;

function relabel(
  vault: VaultSession,
  secretId: string,
  base: EditBase,
  { title, tags }: TitleAndTags,
  options: OperationOptions,
): Promise<SavedVersion> {
  const edit: LabelEdit = (label, row) => {
    requireUnchanged(row, base);
    return { ...label, title: title ?? label.title, tags: tags === undefined ? label.tags : [...tags] };
  };
  return withConflictVersion(vault, secretId, base, changeLabel(vault, secretId, edit, options));
}

/** Edits a label. Called at each attempt. */
export type LabelEdit = (label: Label, row: AccountRow) => Label;

/**
 * Publishes a new label of the current version, with a higher `rev`. Sends nothing if the edit
 * changes nothing.
 */
export function changeLabel(
  vault: VaultSession,
  secretId: string,
  edit: LabelEdit,
  options: OperationOptions,
): Promise<SavedVersion> {
  const sentDigests = new Set<string>();
  const prepare = async (account: AccountView | null): Promise<Attempt<SavedVersion> | { done: SavedVersion }> => {
    const { openedKeyring, row } = requireRow(account, secretId);
    const result = { version: row.version };
    const previousLabel = await openRowLabel(vault.userId, openedKeyring.keys, row);
    const label = edit(previousLabel, row);
    if (JSON.stringify(label) === JSON.stringify(previousLabel)) return { done: result };
    const context = { secretId, version: row.version, rev: row.rev + 1 };
    const sealedLabel = await sealLabel(openedKeyring.keys, vault.userId, context, label);
    const root = toRootRow(context, sealedLabel);
    sentDigests.add(root.labelHex);
    const change = await buildNextChange(vault, requireAccount(account), openedKeyring, replaceRow(account, root), {});
    const send = (): Promise<unknown> =>
      vault.service.store({
        secret_db_id: secretId,
        base_version: row.version,
        label: sealedLabel,
        keyring: change.keyringChange,
      });
    return { change, send, result };
  };
  return publishWithRetry(
    vault,
    { prepare, findPublished: (account) => findPublishedVersion(account, secretId, sentDigests) },
    options,
  );
}

interface VersionRequest extends TitleAndTags {
  readonly content: Omit<ChosenContent, "content">;
  readonly protection?: ProtectRequest["protection"];
  /** Mark of an imported item. */
  readonly source?: string | undefined;
}

/** Publishes sealed content as the version after `base`. */
export async function publishVersion(
  vault: VaultSession,
  secretId: string,
  base: EditBase,
  request: VersionRequest,
  publishable: PublishableContent,
  options: OperationOptions = {},
): Promise<SavedVersion> {
  const sentDigests = new Set<string>();
  const createdAt = formatTimestamp(vault.now());
  const chooser = request.protection === undefined ? null : createOpenerChooser(vault, request.protection, options);

  const prepare = async (account: AccountView | null): Promise<Attempt<SavedVersion>> => {
    const { openedKeyring, row } = requireRow(account, secretId);
    requireUnchanged(row, base);
    const previousLabel = await openRowLabel(vault.userId, openedKeyring.keys, row);
    const chosenOpeners =
      chooser === null
        ? await chooseFormerOpeners(vault, openedKeyring, previousLabel)
        : await chooser.choose(openedKeyring);
    options.onProgress?.({ phase: "sealing", done: 1, total: 2 });
    const context = { secretId, version: row.version + 1, rev: row.rev + 1 };
    const description = {
      ...request.content,
      title: request.title ?? previousLabel.title,
      tags: request.tags ?? previousLabel.tags,
      createdAt,
    };
    const preservedFields = {
      former_sha256: await computeNextFormerDigest(vault, row, previousLabel, options.signal),
      // a check is valid only for its opener
      rehearsed: previousLabel.rehearsed.filter((copyCheck) =>
        chosenOpeners.openers.some(({ id }) => id === copyCheck.opener_id),
      ),
      kits: previousLabel.kits,
      source: request.source ?? previousLabel.source,
    };
    const { root, ...sealed } = await sealRow(
      vault,
      openedKeyring.keys,
      context,
      description,
      publishable,
      chosenOpeners.openers,
      preservedFields,
    );
    sentDigests.add(root.labelHex);
    const change = await buildNextChange(vault, requireAccount(account), openedKeyring, replaceRow(account, root), {
      enrolledImage: chosenOpeners.enrolledImage,
    });
    const signedRow = {
      secret_db_id: secretId,
      base_version: row.version,
      ...sealed,
      keyring: change.keyringChange,
    };
    return { change, send: () => publishable.publish(signedRow), result: { version: context.version } };
  };
  try {
    return await withConflictVersion(
      vault,
      secretId,
      base,
      publishWithRetry(
        vault,
        { prepare, findPublished: (account) => findPublishedVersion(account, secretId, sentDigests) },
        options,
      ),
    );
  } finally {
    chooser?.dispose();
  }
}

/**
 * Adds the current version to the details of a `version_conflict` from the service, which lacks it.
 */
async function withConflictVersion<T>(
  vault: VaultSession,
  secretId: string,
  base: EditBase,
  publication: Promise<T>,
): Promise<T> {
  try {
    return await publication;
  } catch (error) {
    if (isPortalError(error, "version_conflict") && error.details["version"] === undefined)
      await assertNoConflict(vault, secretId, base);
    throw error;
  }
}

/** @throws PortalError `version_conflict` with the current version */
function requireUnchanged(row: AccountRow, base: EditBase): void {
  if (row.version === base.version && (base.rev === undefined || row.rev === base.rev)) return;
  throw new PortalError("version_conflict", { details: { version: row.version } });
}

/**
 * Returns the former version's openers that are still in the book: those that its signed ticket
 * names, or the label's if this session neither opened nor sealed that ticket.
 *
 * @throws PortalError `opener_needed` if there is none, `show_opener_first`
 */
async function chooseFormerOpeners(
  vault: VaultSession,
  openedKeyring: OpenedKeyring,
  label: Pick<Label, "openers" | "ticket_sha256">,
): Promise<ChosenOpeners> {
  await requireVerifiedInner(vault, openedKeyring);
  const ids = vault.signedOpeners.get(label.ticket_sha256) ?? label.openers;
  const openers = openedKeyring.book.openers.filter((opener) => ids.includes(opener.id));
  if (openers.length === 0) throw new PortalError("opener_needed");
  return { openers, enrolledImage: null, newAccount: null };
}

/**
 * The version that we published although the response was lost, found by its label's digest. Null
 * if another device has saved since.
 */
function findPublishedVersion(
  account: AccountView,
  secretId: string,
  sentDigests: ReadonlySet<string>,
): SavedVersion | null {
  const row = account.rows.get(secretId);
  return row !== undefined && sentDigests.has(row.labelHex) ? { version: row.version } : null;
}

function replaceRow(account: AccountView | null, root: ReturnType<typeof toRootRow>): ReturnType<typeof toRootRow>[] {
  const otherRows = [...requireAccount(account).rows.values()].filter((row) => row.secretId !== root.secretId);
  return [...otherRows, root];
}

function requireAccount(account: AccountView | null): AccountView {
  if (account === null) throw new PortalError("not_found");
  return account;
}
