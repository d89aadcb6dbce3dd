import type { VersionLine } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { formerDigest, type FormerLine, type Label } from "../seal/label.ts";
import type { AccountRow, VaultContext } from "../vault-context.ts";

/**
 * The versions before the one of the row, as the service gives them, believed because the label
 * commits to them. Without this a ticket that this account signed but never published, such as one
 * that lost a conflict, would pass for a former version.
 *
 * @throws PortalError `list_mismatch` when one is left out, added or has another ticket than the
 *   one that was replaced.
 */
export function checkedFormer(row: AccountRow, label: Label, given: readonly VersionLine[]): readonly VersionLine[] {
  const former = given.filter(({ version }) => version < row.version);
  const digest = formerDigest(former.map(({ version, ticket_sha256: ticketSha256 }) => ({ version, ticketSha256 })));
  if (digest !== label.former_sha256) throw new PortalError("list_mismatch");
  return former;
}

/**
 * The commitment of the label that follows this one: all versions before it, and the one that it
 * replaces.
 *
 * @throws PortalError `list_mismatch`.
 */
export async function formerAfter(
  vault: VaultContext,
  row: AccountRow,
  label: Label,
  signal?: AbortSignal,
): Promise<string | null> {
  const before = row.version === 1 ? [] : checkedFormer(row, label, await vault.service.versions(row.secretId, signal));
  const lines = before.map(({ version, ticket_sha256: ticketSha256 }): FormerLine => ({ version, ticketSha256 }));
  return formerDigest([...lines, { version: row.version, ticketSha256: label.ticket_sha256 }]);
}
