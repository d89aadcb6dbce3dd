import type { VersionRecord } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { computeFormerVersionsDigest, type FormerVersion, type Label } from "../seal/label.ts";
import type { AccountRow } from "../session/list-cache.ts";
import type { VaultSession } from "../session/vault-session.ts";

/**
 * Verifies the earlier versions by the label's commitment to them. Without it, a ticket that this
 * account signed but never published, for example after a conflict, could pass for an earlier
 * version.
 *
 * @returns the earlier versions
 * @throws PortalError `list_mismatch` if one is missing, added or has another ticket
 */
export function verifyFormerVersions(
  row: AccountRow,
  label: Label,
  versionRecords: readonly VersionRecord[],
): readonly VersionRecord[] {
  const formerRecords = versionRecords.filter(({ version }) => version < row.version);
  const digest = computeFormerVersionsDigest(
    formerRecords.map(({ version, ticket_sha256: ticketSha256 }) => ({ version, ticketSha256 })),
  );
  if (digest !== label.former_sha256) throw new PortalError("list_mismatch");
  return formerRecords;
}

/**
 * Computes the next label's commitment to the earlier versions and to the current one, which it
 * replaces.
 *
 * @throws PortalError `list_mismatch`
 */
export async function computeNextFormerDigest(
  vault: VaultSession,
  row: AccountRow,
  label: Label,
  signal?: AbortSignal,
): Promise<string | null> {
  const formerVersions =
    row.version === 1 ? [] : verifyFormerVersions(row, label, await vault.service.getVersions(row.secretId, signal));
  const committedVersions = formerVersions.map(({ version, ticket_sha256: ticketSha256 }): FormerVersion => ({
    version,
    ticketSha256,
  }));
  return computeFormerVersionsDigest([
    ...committedVersions,
    { version: row.version, ticketSha256: label.ticket_sha256 },
  ]);
}
