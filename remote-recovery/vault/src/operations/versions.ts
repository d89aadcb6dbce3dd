import { Id, type VersionRecord } from "@relicario/shared/api";
import type { SecretVersion } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { wipe } from "../seal/bytes.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { verifyFormerVersions } from "../secrets/former-versions.ts";
import { publishWithRetry, type Attempt } from "../keyring/publish.ts";
import { openRowLabel, readAccount, requireRow, type AccountView } from "../keyring/read-account.ts";
import { retryReadOnce } from "../keyring/refresh-keyring.ts";
import { sealInlineContent } from "../secrets/seal-secret.ts";
import { buildNextChange } from "../keyring/build-keyring-change.ts";
import { withSharesEnded } from "../keyring/shares-document.ts";
import { openSmallSecret } from "./open-secret.ts";
import { publishVersion, type SavedVersion } from "./update.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";

/**
 * All versions that there ever were, newest first; of a dropped one only its line is left. On an
 * unlocked device they are those that the label commits to; dates, sizes and what was dropped are
 * the service's word. A locked one has its word alone.
 *
 * @throws PortalError `not_found`, `list_mismatch` when they are not those of the label, or the
 *   newest not that of the list.
 */
export async function listVersions(
  vault: VaultSession,
  secretId: string,
  options: OperationOptions = {},
): Promise<SecretVersion[]> {
  requireId(secretId);
  const lines = await retryReadOnce(() => readVersionRecords(vault, secretId, options.signal));
  return lines.map(({ version, size, created_at: createdAt, dropped }, index) => ({
    version,
    createdAt,
    sealedSize: size,
    current: index === 0,
    dropped,
  }));
}

async function readVersionRecords(
  vault: VaultSession,
  secretId: string,
  signal?: AbortSignal,
): Promise<readonly VersionRecord[]> {
  const locked = vault.keys === null;
  const account = locked ? null : await readAccount(vault, signal);
  const lines = (await vault.service.getVersions(secretId, signal)).toSorted(
    (left, right) => right.version - left.version,
  );
  const [newest] = lines;
  if (newest === undefined || lines.some(({ version }, index) => version !== lines.length - index))
    throw new PortalError("list_mismatch");
  if (locked) return lines;
  const { openedKeyring, row } = requireRow(account, secretId);
  const label = await openRowLabel(vault.userId, openedKeyring.keys, row);
  if (newest.version !== row.version || newest.ticket_sha256 !== label.ticket_sha256)
    throw new PortalError("list_mismatch");
  verifyFormerVersions(row, label, lines);
  return lines;
}

/**
 * The content of an older version as a new one, with title, tags and openers of today. What this
 * account did not sign is not signed now: it stays what it is, an old version of an unknown author.
 *
 * @throws PortalError those of {@link openSmallSecret} and of a new version.
 */
export async function restoreVersion(
  vault: VaultSession,
  secretId: string,
  version: number,
  presentedOpener: PresentedOpener,
  options: OperationOptions = {},
): Promise<SavedVersion> {
  const formerSecret = await openSmallSecret(vault, secretId, presentedOpener, { ...options, version });
  try {
    if (formerSecret.current) return { version };
    if (formerSecret.author !== "verified") throw new PortalError("decryption_failed");
    const { row } = requireRow(await readAccount(vault, options.signal), secretId);
    const { contentKind, name, mime, content } = formerSecret;
    const publishable = await sealInlineContent(
      vault,
      { contentKind, name, mime, content: new Blob([content]) },
      options,
    );
    return await publishVersion(
      vault,
      secretId,
      { version: row.version, rev: undefined },
      { content: { contentKind, name, mime } },
      publishable,
      options,
    );
  } finally {
    wipe(formerSecret.content);
  }
}

/**
 * Removes content and ticket of former versions for good, by one signed keyring change. Their lines
 * stay, so the label does too; shares of them end. What was dropped before, here or by the service,
 * counts as removed.
 *
 * @throws PortalError `not_found` for a version that is not a former one, `vault_locked`,
 *   `list_mismatch`, and those of publishing.
 */
export async function removeVersions(
  vault: VaultSession,
  secretId: string,
  versions: readonly number[],
  options: OperationOptions = {},
): Promise<void> {
  requireId(secretId);
  const requestedVersions = new Set(versions);
  if (requestedVersions.size === 0) return;

  const prepare = async (account: AccountView | null): Promise<Attempt<"removed"> | { done: "removed" }> => {
    const { openedKeyring, row } = requireRow(account, secretId);
    if (account === null) throw new PortalError("not_found");
    const label = await openRowLabel(vault.userId, openedKeyring.keys, row);
    const former = verifyFormerVersions(row, label, await vault.service.getVersions(secretId, options.signal));
    const matchingVersions = former.filter(({ version }) => requestedVersions.has(version));
    if (matchingVersions.length !== requestedVersions.size) throw new PortalError("not_found");
    const versionsToDrop = matchingVersions.filter(({ dropped }) => !dropped).map(({ version }) => version);
    if (versionsToDrop.length === 0) return { done: "removed" };
    const purgeVersions = [{ secret_db_id: secretId, versions: versionsToDrop }];
    const shares = withSharesEnded(
      openedKeyring.shares,
      vault.now(),
      (entry) => entry.secret_id === secretId && requestedVersions.has(entry.version),
    );
    const change = await buildNextChange(vault, account, openedKeyring, [...account.rows.values()], {
      ...(shares === null ? {} : { documents: { shares } }),
      purgeVersions,
    });
    return { change, send: () => vault.service.changeKeyring(change.keyring), result: "removed" };
  };
  await publishWithRetry(vault, { prepare, findPublished: () => null }, options);
}

/** Ids come from addresses too: what is not one never reaches a path. */
function requireId(secretId: string): void {
  if (!Id.safeParse(secretId).success) throw new PortalError("not_found");
}
