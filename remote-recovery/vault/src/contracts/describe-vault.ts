import { describeCancellation } from "./describe-vault.cancellation.ts";
import { describeDevice } from "./describe-vault.device.ts";
import { describeImports } from "./describe-vault.imports.ts";
import { describeDeviceLinksAndReset } from "./describe-vault.device-links-and-reset.ts";
import { describeVisitor } from "./describe-vault.visitor.ts";
import { describeOpeners } from "./describe-vault.openers.ts";
import { describeRequests } from "./describe-vault.requests.ts";
import { describeSecrets } from "./describe-vault.secrets.ts";
import { describeSharing } from "./describe-vault.sharing.ts";
import type { CreateLinkHarness, CreateHarness } from "./describe-vault.harness.ts";
import { describeUploads } from "./describe-vault.uploads.ts";
import { describeVersions } from "./describe-vault.versions.ts";

/**
 * Contract of the vault and of a page opened by a link. Tests the real ones, and the fakes that
 * other remotes use in their tests.
 */
export function describeVault(name: string, make: CreateHarness, makeLink: CreateLinkHarness): void {
  describe(name, () => {
    describeDevice(make);
    describeSecrets(make);
    describeVersions(make);
    describeUploads(make);
    describeImports(make);
    describeOpeners(make);
    describeDeviceLinksAndReset(make);
    describeSharing(make);
    describeRequests(make);
    describeCancellation(make);
    describeVisitor(makeLink);
  });
}
