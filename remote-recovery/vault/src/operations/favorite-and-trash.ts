import { Id } from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import { markSharesEnded } from "../shares/change-shares.ts";
import type { VaultSession } from "../session/vault-session.ts";

/**
 * What a signed-in person may do without an opener: star, trash, take out of the trash. Nothing
 * sealed changes.
 */

export async function setFavorite(vault: VaultSession, secretId: string, favorite: boolean): Promise<void> {
  const row = await vault.service.setFavorite(requireId(secretId), favorite);
  if (row.secret_db_id !== secretId || row.favorite !== favorite) throw new PortalError("bad_answer");
}

/**
 * Its shares end with it, by the service; on an unlocked device the sealed document says so too.
 */
export async function trash(vault: VaultSession, secretId: string): Promise<void> {
  await vault.service.trash(requireId(secretId));
  await markSharesOfSecretEnded(vault, secretId);
}

/**
 * What was shared of it stays over. While it is still in the trash, that is marked on an unlocked
 * device, for a locked one trashes without.
 */
export async function restore(vault: VaultSession, secretId: string): Promise<void> {
  await markSharesOfSecretEnded(vault, requireId(secretId));
  await vault.service.store({ secret_db_id: secretId, restore: true });
}

/** Only while it is in the trash: another device may have taken it out and shared it again. */
async function markSharesOfSecretEnded(vault: VaultSession, secretId: string): Promise<void> {
  if (vault.keys === null) return;
  try {
    await markSharesEnded(
      vault,
      (entry, { rows }) => entry.secret_id === secretId && rows.get(secretId)?.stored.deleted_at !== undefined,
    );
  } catch (error) {
    // its shares are over, by the service: without the mark their list says so of the row
    if (!isPortalError(error)) throw error;
  }
}

/** Ids come from addresses too: what is not one never reaches a path. */
function requireId(secretId: string): string {
  if (!Id.safeParse(secretId).success) throw new PortalError("not_found");
  return secretId;
}
