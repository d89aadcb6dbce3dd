import type { VersionRecord } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { computeFormerVersionsDigest, type FormerVersion, type Label } from "../seal/label.ts";
import type { AccountRow } from "../session/list-cache.ts";
import type { VaultSession } from "../session/vault-session.ts";

/**
 * The versions before the one of the row, as the service gives them, believed because the label
 * commits to them. Without this a ticket that this account signed but never published, such as one
 * that lost a conflict, would pass for a former version.
 *
 * @throws PortalError `list_mismatch` when one is left out, added or has another ticket than the
 *   one that was replaced.
 */
export function verifyFormerVersions(
  row: AccountRow,
  label: Label,
  versionRecords: readonly VersionRecord[],
): readonly VersionRecord[] {
  const former = versionRecords.filter(({ version }) => version < row.version);
  const digest = computeFormerVersionsDigest(
    former.map(({ version, ticket_sha256: ticketSha256 }) => ({ version, ticketSha256 })),
  );
  if (digest !== label.former_sha256) throw new PortalError("list_mismatch");
  return former;
}

/**
 * The commitment of the label that follows this one: all versions before it, and the one that it
 * replaces.
 *
 * @throws PortalError `list_mismatch`.
 */
export async function nextFormerDigest(
  vault: VaultSession,
  row: AccountRow,
  label: Label,
  signal?: AbortSignal,
): Promise<string | null> {
  const formerVersions =
    row.version === 1 ? [] : verifyFormerVersions(row, label, await vault.service.getVersions(row.secretId, signal));
  const lines = formerVersions.map(({ version, ticket_sha256: ticketSha256 }): FormerVersion => ({
    version,
    ticketSha256,
  }));
  return computeFormerVersionsDigest([...lines, { version: row.version, ticketSha256: label.ticket_sha256 }]);
}
