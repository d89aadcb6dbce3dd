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
import { markSharesEnded } from "../keyring/shares-document.ts";
import { openSmallSecret } from "./open-secret.ts";
import { publishVersion, type SavedVersion } from "./update.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";

/**
 * Lists all versions, newest first, including dropped ones. An unlocked device verifies them
 * against the label; dates, sizes and `dropped` are unverified claims of the service. On a locked
 * device, everything is a claim.
 *
 * @throws PortalError `not_found`; `list_mismatch` if the versions do not match the label, or the
 *   newest does not match the list
 */
export async function listVersions(
  vault: VaultSession,
  secretId: string,
  options: OperationOptions = {},
): Promise<SecretVersion[]> {
  requireId(secretId);
  const versionRecords = await retryReadOnce(() => readVersionRecords(vault, secretId, options.signal));
  return versionRecords.map(({ version, size, created_at: createdAt, dropped }, index) => ({
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
  const isLocked = vault.keys === null;
  const account = isLocked ? null : await readAccount(vault, signal);
  const versionRecords = (await vault.service.getVersions(secretId, signal)).toSorted(
    (left, right) => right.version - left.version,
  );
  const [newest] = versionRecords;
  if (newest === undefined || versionRecords.some(({ version }, index) => version !== versionRecords.length - index))
    throw new PortalError("list_mismatch");
  if (isLocked) return versionRecords;
  const { openedKeyring, row } = requireRow(account, secretId);
  const label = await openRowLabel(vault.userId, openedKeyring.keys, row);
  if (newest.version !== row.version || newest.ticket_sha256 !== label.ticket_sha256)
    throw new PortalError("list_mismatch");
  verifyFormerVersions(row, label, versionRecords);
  return versionRecords;
}

/**
 * Publishes the content of a former version as a new one, with the current title, tags and openers.
 * Refuses a version that this account did not sign, because its author is unknown.
 *
 * @param presentedOpener null for the opener that is kept open
 * @throws PortalError those of {@link openSmallSecret} and of a new version
 */
export async function restoreVersion(
  vault: VaultSession,
  secretId: string,
  version: number,
  presentedOpener: PresentedOpener | null,
  options: OperationOptions = {},
): Promise<SavedVersion> {
  const formerSecret = await openSmallSecret(vault, secretId, presentedOpener, { ...options, version });
  try {
    if (formerSecret.current) return { version };
    if (formerSecret.signatureStatus !== "verified") throw new PortalError("decryption_failed");
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
 * Deletes content and ticket of former versions with one signed keyring change, and ends their
 * shares. The versions' records stay, because the label commits to them. Versions that were already
 * dropped count as deleted.
 *
 * @throws PortalError `not_found` for a version that is not a former one, `vault_locked`,
 *   `list_mismatch`, and errors of publishing
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
    const formerVersions = verifyFormerVersions(row, label, await vault.service.getVersions(secretId, options.signal));
    const matchingVersions = formerVersions.filter(({ version }) => requestedVersions.has(version));
    if (matchingVersions.length !== requestedVersions.size) throw new PortalError("not_found");
    const versionsToDrop = matchingVersions.filter(({ dropped }) => !dropped).map(({ version }) => version);
    if (versionsToDrop.length === 0) return { done: "removed" };
    const purgeVersions = [{ secret_db_id: secretId, versions: versionsToDrop }];
    const shares = markSharesEnded(
      openedKeyring.shares,
      vault.now(),
      (entry) => entry.secret_id === secretId && requestedVersions.has(entry.version),
    );
    const change = await buildNextChange(vault, account, openedKeyring, [...account.rows.values()], {
      ...(shares === null ? {} : { documents: { shares } }),
      purgeVersions,
    });
    return { change, send: () => vault.service.changeKeyring(change.keyringChange), result: "removed" };
  };
  await publishWithRetry(vault, { prepare, findPublished: () => null }, options);
}

/** Rejects other text than ids, since ids from URLs become part of request paths. */
function requireId(secretId: string): void {
  if (!Id.safeParse(secretId).success) throw new PortalError("not_found");
}
