import { VaultPage } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

/**
 * Reads what the gateway wrote into a page of the vault's origin.
 *
 * @throws PortalError `deployment_refused`
 */
export function readVaultPage(document: Document): VaultPage {
  try {
    return VaultPage.parse(JSON.parse(document.getElementById("portal-page")?.textContent ?? ""));
  } catch (cause) {
    throw new PortalError("deployment_refused", { cause });
  }
}
