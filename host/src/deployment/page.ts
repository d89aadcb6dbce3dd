import { PortalPage } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

/** What the gateway wrote into the page: the vendor, and the public keys that everything else is checked with. `deployment_refused`. */
export function readPortalPage(document: Document): PortalPage {
  try {
    return PortalPage.parse(JSON.parse(document.getElementById("portal-page")?.textContent ?? ""));
  } catch (cause) {
    throw new PortalError("deployment_refused", { cause });
  }
}
