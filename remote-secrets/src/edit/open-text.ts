import type { OpenerHandle, Vault } from "@relicario/shared/contract";
import type { OperationOptions } from "@relicario/shared/forms";

/**
 * Opens a content as text, then overwrites the bytes and disposes the opened secret.
 *
 * @param opener null for the opener that is kept open
 */
export async function openText(
  vault: Vault,
  secretId: string,
  opener: OpenerHandle | null,
  options: OperationOptions,
): Promise<string> {
  const openedSecret = await vault.openSecret(secretId, opener, options);
  try {
    return new TextDecoder().decode(openedSecret.content ?? new Uint8Array());
  } finally {
    openedSecret.content?.fill(0);
    openedSecret.dispose();
  }
}
