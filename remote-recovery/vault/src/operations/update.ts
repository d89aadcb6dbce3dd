import { isPortalError, PortalError } from "@relicario/shared/errors";

import { formatTimestamp } from "../seal/ids.ts";
import { sealLabel, type Label } from "../seal/label.ts";
import type { AccountRow } from "../session/list-cache.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { openRowLabel, readAccount, requireRow, type AccountView } from "../keyring/read-account.ts";
import { createOpenerChooser, type ChosenOpeners } from "../openers/choose-openers.ts";
import { nextFormerDigest } from "../secrets/former-versions.ts";
import { validateSecretChange } from "../secrets/validate-request.ts";
import { publishWithRetry, type Attempt } from "../keyring/publish.ts";
import {
  sealInlineContent,
  toRootRow,
  sealRow,
  type ChosenContent,
  type PublishableContent,
} from "../secrets/seal-secret.ts";
import { requireVerifiedOpeners } from "../keyring/verified-openers.ts";
import type { OpenedKeyring } from "../session/keyring-views.ts";
import { buildNextChange } from "../keyring/build-keyring-change.ts";
import type { ProtectRequest, SecretChange } from "../rpc/presented-opener.ts";

export interface SavedVersion {
  readonly version: number;
}

/**
 * What an edit was based on. Without a `rev` only another version is a conflict; a changed title or
 * tags are not, and are kept.
 */
interface EditBase {
  readonly version: number;
  readonly rev: number | undefined;
}

/**
 * Title and tags alone: a new label of the same version (`rev` grows), no opener. With content: a
 * new version with a content identity of its own, sealed to the openers that the label names and
 * that still stand in the book, or to those of `protection`; no opener is shown for that either.
 * Its label commits to every version before it.
 *
 * @throws PortalError `version_conflict` when another device saved first, `too_many_versions`,
 *   `validation_error`, `not_found`, `vault_locked`, `opener_needed`, and those of publishing.
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
  // before a large content is sealed and sent for nothing
  await assertNoConflict(vault, secretId, base, options.signal);
  const ready = await sealInlineContent(vault, content, options);
  return publishVersion(vault, secretId, base, { ...change, content }, ready, options);
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

/** The label that takes the place of `label`; made anew at each try. */
export type LabelEdit = (label: Label, row: AccountRow) => Label;

/**
 * Publishes a new label of the version that stands: `rev` grows. Nothing is sent when the edit
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
        keyring: change.keyring,
      });
    return { change, send, result };
  };
  return publishWithRetry(
    vault,
    { prepare, findPublished: (account) => findPublishedVersion(account, secretId, sentDigests) },
    options,
  );
}

/** Naming, content and openers of a version that is made now. */
interface VersionRequest extends TitleAndTags {
  readonly content: Omit<ChosenContent, "content">;
  readonly protection?: ProtectRequest["protection"];
  /** Of an item that is imported again. */
  readonly source?: string | undefined;
}

/** Publishes content that is sealed already as the version after `base`. */
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
    const chosen =
      chooser === null
        ? await chooseLabelOpeners(vault, openedKeyring, previousLabel.openers)
        : await chooser.choose(openedKeyring);
    options.onProgress?.({ phase: "sealing", done: 1, total: 2 });
    const context = { secretId, version: row.version + 1, rev: row.rev + 1 };
    const description = {
      ...request.content,
      title: request.title ?? previousLabel.title,
      tags: request.tags ?? previousLabel.tags,
      createdAt,
    };
    const preserved = {
      former_sha256: await nextFormerDigest(vault, row, previousLabel, options.signal),
      // it holds for the opener it was made with
      rehearsed: previousLabel.rehearsed.filter((copyCheck) =>
        chosen.openers.some(({ id }) => id === copyCheck.opener_id),
      ),
      kits: previousLabel.kits,
      source: request.source ?? previousLabel.source,
    };
    const { label, ticket, root } = await sealRow(
      vault,
      openedKeyring.keys,
      context,
      description,
      publishable,
      chosen.openers,
      preserved,
    );
    sentDigests.add(root.labelHex);
    const change = await buildNextChange(vault, requireAccount(account), openedKeyring, replaceRow(account, root), {
      enrolledImage: chosen.enrolledImage,
    });
    const signedRow = { secret_db_id: secretId, base_version: row.version, label, ticket, keyring: change.keyring };
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

/** Adds the current version to a `version_conflict` that the service reported without one. */
async function withConflictVersion<T>(
  vault: VaultSession,
  secretId: string,
  base: EditBase,
  publishing: Promise<T>,
): Promise<T> {
  try {
    return await publishing;
  } catch (error) {
    if (isPortalError(error, "version_conflict") && error.details["version"] === undefined)
      await assertNoConflict(vault, secretId, base);
    throw error;
  }
}

/** @throws PortalError `version_conflict` with the version that stands now. */
function requireUnchanged(row: AccountRow, base: EditBase): void {
  if (row.version === base.version && (base.rev === undefined || row.rev === base.rev)) return;
  throw new PortalError("version_conflict", { details: { version: row.version } });
}

/**
 * The openers of the label that still stand in the book. @throws PortalError `opener_needed` when
 * none does, `show_opener_first`.
 */
async function chooseLabelOpeners(
  vault: VaultSession,
  openedKeyring: OpenedKeyring,
  ids: readonly string[],
): Promise<ChosenOpeners> {
  await requireVerifiedOpeners(vault, openedKeyring);
  const openers = openedKeyring.book.openers.filter((opener) => ids.includes(opener.id));
  if (openers.length === 0) throw new PortalError("opener_needed");
  return { openers, enrolledImage: null, firstAccount: null };
}

/**
 * The version that we published, found by the digest of its label: the answer was lost, and nobody
 * saved since.
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
