import { Id, type VersionLine } from "@relicario/shared/api";
import type { SecretVersion } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { wipe } from "../seal/bytes.ts";
import type { ActOptions, VaultContext } from "../vault-context.ts";
import { checkedFormer } from "../steps/former-versions.ts";
import { publishUntilItFits, type Attempt } from "../steps/publish.ts";
import { labelOf, readAccount, requireRow, type AccountView } from "../steps/read-account.ts";
import { withSecondReading } from "../steps/read-keyring.ts";
import { sealInCall } from "../steps/sealed-secret.ts";
import { nextChange } from "../steps/signed-change.ts";
import { withEnded } from "../shares/shares-document.ts";
import { recover } from "./recover.ts";
import { publishVersion, type NewVersion } from "./update.ts";
import type { Shown } from "../shown-image.ts";

/**
 * All versions that there ever were, newest first; of a dropped one only its line is left. On an
 * unlocked device they are those that the label commits to; dates, sizes and what was dropped are
 * the service's word. A locked one has its word alone.
 *
 * @throws PortalError `not_found`, `list_mismatch` when they are not those of the label, or the
 *   newest not that of the list.
 */
export async function history(
  vault: VaultContext,
  secretId: string,
  options: ActOptions = {},
): Promise<SecretVersion[]> {
  requireId(secretId);
  const lines = await withSecondReading(() => readLines(vault, secretId, options.signal));
  return lines.map(({ version, size, created_at: createdAt, dropped }, index) => ({
    version,
    createdAt,
    sealedSize: size,
    current: index === 0,
    dropped,
  }));
}

async function readLines(vault: VaultContext, secretId: string, signal?: AbortSignal): Promise<readonly VersionLine[]> {
  const locked = vault.keys === null;
  const account = locked ? null : await readAccount(vault, signal);
  const lines = (await vault.service.versions(secretId, signal)).toSorted(
    (left, right) => right.version - left.version,
  );
  const [newest] = lines;
  if (newest === undefined || lines.some(({ version }, index) => version !== lines.length - index))
    throw new PortalError("list_mismatch");
  if (locked) return lines;
  const { opened, row } = requireRow(account, secretId);
  const label = await labelOf(vault.userId, opened.keys, row);
  if (newest.version !== row.version || newest.ticket_sha256 !== label.ticket_sha256)
    throw new PortalError("list_mismatch");
  checkedFormer(row, label, lines);
  return lines;
}

/**
 * The content of an older version as a new one, with title, tags and openers of today. What this
 * account did not sign is not signed now: it stays what it is, an old version of an unknown author.
 *
 * @throws PortalError those of {@link recover} and of a new version.
 */
export async function restoreVersion(
  vault: VaultContext,
  secretId: string,
  version: number,
  shown: Shown,
  options: ActOptions = {},
): Promise<NewVersion> {
  const former = await recover(vault, secretId, shown, { ...options, version });
  try {
    if (former.current) return { version };
    if (former.author !== "verified") throw new PortalError("decryption_failed");
    const { row } = requireRow(await readAccount(vault, options.signal), secretId);
    const { contentKind, name, mime, content } = former;
    const ready = await sealInCall(vault, { contentKind, name, mime, content: new Blob([content]) }, options);
    return await publishVersion(
      vault,
      secretId,
      { version: row.version, rev: undefined },
      { content: { contentKind, name, mime } },
      ready,
      options,
    );
  } finally {
    wipe(former.content);
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
  vault: VaultContext,
  secretId: string,
  versions: readonly number[],
  options: ActOptions = {},
): Promise<void> {
  requireId(secretId);
  const wanted = new Set(versions);
  if (wanted.size === 0) return;

  const prepare = async (account: AccountView | null): Promise<Attempt<"gone"> | { done: "gone" }> => {
    const { opened, row } = requireRow(account, secretId);
    if (account === null) throw new PortalError("not_found");
    const label = await labelOf(vault.userId, opened.keys, row);
    const former = checkedFormer(row, label, await vault.service.versions(secretId, options.signal));
    const going = former.filter(({ version }) => wanted.has(version));
    if (going.length !== wanted.size) throw new PortalError("not_found");
    const kept = going.filter(({ dropped }) => !dropped).map(({ version }) => version);
    if (kept.length === 0) return { done: "gone" };
    const purgeVersions = [{ secret_db_id: secretId, versions: kept }];
    const shares = withEnded(
      opened.shares,
      vault.now(),
      (entry) => entry.secret_id === secretId && wanted.has(entry.version),
    );
    const change = await nextChange(vault, account, opened, [...account.rows.values()], {
      ...(shares === null ? {} : { documents: { shares } }),
      purgeVersions,
    });
    return { change, send: () => vault.service.changeKeyring(change.keyring), result: "gone" };
  };
  await publishUntilItFits(vault, { prepare, published: () => null }, options);
}

/** Ids come from addresses too: what is not one never reaches a path. */
function requireId(secretId: string): void {
  if (!Id.safeParse(secretId).success) throw new PortalError("not_found");
}
