import { isPortalError, PortalError } from "@relicario/shared/errors";

import { timestamp } from "../seal/ids.ts";
import { sealLabel, type Label } from "../seal/label.ts";
import type { AccountRow, ActOptions, VaultContext } from "../vault-context.ts";
import { labelOf, readAccount, requireRow, type AccountView } from "../steps/read-account.ts";
import { openerChoice, type ChosenOpeners } from "../steps/choose-openers.ts";
import { formerAfter } from "../steps/former-versions.ts";
import { checkChange } from "../steps/check-request.ts";
import { publishUntilItFits, type Attempt } from "../steps/publish.ts";
import { sealInCall, rootRow, sealRow, type ChosenContent, type ReadyContent } from "../steps/sealed-secret.ts";
import { requireCheckedOpeners, type OpenedKeyring } from "../steps/read-keyring.ts";
import { nextChange } from "../steps/signed-change.ts";
import type { ProtectRequest, SecretChange } from "../shown-image.ts";

export interface NewVersion {
  readonly version: number;
}

/**
 * What an edit was based on. Without a `rev` only another version is a conflict; a changed title or
 * tags are not, and are kept.
 */
interface Base {
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
  vault: VaultContext,
  secretId: string,
  change: SecretChange,
  options: ActOptions = {},
): Promise<NewVersion> {
  checkChange(change);
  const base: Base = { version: change.baseVersion, rev: change.baseRev };
  const { content } = change;
  if (content === undefined) return relabel(vault, secretId, base, change, options);
  await refuseEarly(vault, secretId, base, options.signal); // before a large content is sealed and sent for nothing
  const ready = await sealInCall(vault, content, options);
  return publishVersion(vault, secretId, base, { ...change, content }, ready, options);
}

async function refuseEarly(vault: VaultContext, secretId: string, base: Base, signal?: AbortSignal): Promise<void> {
  const { row } = requireRow(await readAccount(vault, signal), secretId);
  refuseConflict(row, base);
}

type Naming = Pick<SecretChange, "title" | "tags">;

function relabel(
  vault: VaultContext,
  secretId: string,
  base: Base,
  { title, tags }: Naming,
  options: ActOptions,
): Promise<NewVersion> {
  const edit: LabelEdit = (before, row) => {
    refuseConflict(row, base);
    return { ...before, title: title ?? before.title, tags: tags === undefined ? before.tags : [...tags] };
  };
  return sayVersion(vault, secretId, base, changeLabel(vault, secretId, edit, options));
}

/** The label that takes the place of `before`; made anew at each try. */
export type LabelEdit = (before: Label, row: AccountRow) => Label;

/**
 * Publishes a new label of the version that stands: `rev` grows. Nothing is sent when the edit
 * changes nothing.
 */
export function changeLabel(
  vault: VaultContext,
  secretId: string,
  edit: LabelEdit,
  options: ActOptions,
): Promise<NewVersion> {
  const sent = new Set<string>();
  const prepare = async (account: AccountView | null): Promise<Attempt<NewVersion> | { done: NewVersion }> => {
    const { opened, row } = requireRow(account, secretId);
    const result = { version: row.version };
    const before = await labelOf(vault.userId, opened.keys, row);
    const label = edit(before, row);
    if (JSON.stringify(label) === JSON.stringify(before)) return { done: result };
    const place = { secretId, version: row.version, rev: row.rev + 1 };
    const sealed = await sealLabel(opened.keys, vault.userId, place, label);
    const root = rootRow(place, sealed);
    sent.add(root.labelHex);
    const change = await nextChange(vault, requireAccount(account), opened, withRow(account, root), {});
    const send = (): Promise<unknown> =>
      vault.service.store({
        secret_db_id: secretId,
        base_version: row.version,
        label: sealed,
        keyring: change.keyring,
      });
    return { change, send, result };
  };
  return publishUntilItFits(
    vault,
    { prepare, published: (account) => publishedVersion(account, secretId, sent) },
    options,
  );
}

/** Naming, content and openers of a version that is made now. */
interface VersionRequest extends Naming {
  readonly content: Omit<ChosenContent, "content">;
  readonly protection?: ProtectRequest["protection"];
  /** Of an item that is imported again. */
  readonly source?: string | undefined;
}

/** Publishes content that is sealed already as the version after `base`. */
export async function publishVersion(
  vault: VaultContext,
  secretId: string,
  base: Base,
  request: VersionRequest,
  ready: ReadyContent,
  options: ActOptions = {},
): Promise<NewVersion> {
  const sent = new Set<string>();
  const createdAt = timestamp(vault.now());
  const choice = request.protection === undefined ? null : openerChoice(vault, request.protection, options);

  const prepare = async (account: AccountView | null): Promise<Attempt<NewVersion>> => {
    const { opened, row } = requireRow(account, secretId);
    refuseConflict(row, base);
    const before = await labelOf(vault.userId, opened.keys, row);
    const chosen = choice === null ? await standing(vault, opened, before.openers) : await choice.from(opened);
    options.onProgress?.({ phase: "sealing", done: 1, total: 2 });
    const place = { secretId, version: row.version + 1, rev: row.rev + 1 };
    const described = {
      ...request.content,
      title: request.title ?? before.title,
      tags: request.tags ?? before.tags,
      createdAt,
    };
    const carried = {
      former_sha256: await formerAfter(vault, row, before, options.signal),
      // it holds for the opener it was made with
      rehearsed: before.rehearsed.filter((one) => chosen.openers.some(({ id }) => id === one.opener_id)),
      kits: before.kits,
      source: request.source ?? before.source,
    };
    const { label, ticket, root } = await sealRow(vault, opened.keys, place, described, ready, chosen.openers, carried);
    sent.add(root.labelHex);
    const change = await nextChange(vault, requireAccount(account), opened, withRow(account, root), {
      enrolled: chosen.enrolled,
    });
    const sealed = { secret_db_id: secretId, base_version: row.version, label, ticket, keyring: change.keyring };
    return { change, send: () => ready.publish(sealed), result: { version: place.version } };
  };
  try {
    return await sayVersion(
      vault,
      secretId,
      base,
      publishUntilItFits(
        vault,
        { prepare, published: (account) => publishedVersion(account, secretId, sent) },
        options,
      ),
    );
  } finally {
    choice?.forget();
  }
}

/** Adds the current version to a `version_conflict` that the service reported without one. */
async function sayVersion<T>(vault: VaultContext, secretId: string, base: Base, publishing: Promise<T>): Promise<T> {
  try {
    return await publishing;
  } catch (error) {
    if (isPortalError(error, "version_conflict") && error.details["version"] === undefined)
      await refuseEarly(vault, secretId, base);
    throw error;
  }
}

/** @throws PortalError `version_conflict` with the version that stands now. */
function refuseConflict(row: AccountRow, base: Base): void {
  if (row.version === base.version && (base.rev === undefined || row.rev === base.rev)) return;
  throw new PortalError("version_conflict", { details: { version: row.version } });
}

/**
 * The openers of the label that still stand in the book. @throws PortalError `opener_needed` when
 * none does, `show_opener_first`.
 */
async function standing(vault: VaultContext, opened: OpenedKeyring, ids: readonly string[]): Promise<ChosenOpeners> {
  await requireCheckedOpeners(vault, opened);
  const openers = opened.book.openers.filter((opener) => ids.includes(opener.id));
  if (openers.length === 0) throw new PortalError("opener_needed");
  return { openers, enrolled: null, first: null };
}

/**
 * The version that we published, found by the digest of its label: the answer was lost, and nobody
 * saved since.
 */
function publishedVersion(account: AccountView, secretId: string, sent: ReadonlySet<string>): NewVersion | null {
  const row = account.rows.get(secretId);
  return row !== undefined && sent.has(row.labelHex) ? { version: row.version } : null;
}

function withRow(account: AccountView | null, root: ReturnType<typeof rootRow>): ReturnType<typeof rootRow>[] {
  const others = [...requireAccount(account).rows.values()].filter((row) => row.secretId !== root.secretId);
  return [...others, root];
}

function requireAccount(account: AccountView | null): AccountView {
  if (account === null) throw new PortalError("not_found");
  return account;
}
