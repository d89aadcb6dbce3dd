import { describeCalls } from "./describe-vault.calls.ts";
import { describeDevice } from "./describe-vault.device.ts";
import { describeImports } from "./describe-vault.imports.ts";
import { describeKeys } from "./describe-vault.keys.ts";
import { describeLinks } from "./describe-vault.links.ts";
import { describeOpeners } from "./describe-vault.openers.ts";
import { describeRequests } from "./describe-vault.requests.ts";
import { describeSecrets } from "./describe-vault.secrets.ts";
import { describeSharing } from "./describe-vault.sharing.ts";
import type { CreateLinkHarness, CreateHarness } from "./describe-vault.harness.ts";
import { describeUploads } from "./describe-vault.uploads.ts";
import { describeVersions } from "./describe-vault.versions.ts";

/**
 * What the contract says of a vault, and of a page opened by a link: the same of the real ones and
 * of those that remotes are tested with.
 */
export function describeVault(name: string, make: CreateHarness, makeLink: CreateLinkHarness): void {
  describe(name, () => {
    describeDevice(make);
    describeSecrets(make);
    describeVersions(make);
    describeUploads(make);
    describeImports(make);
    describeOpeners(make);
    describeKeys(make);
    describeSharing(make);
    describeRequests(make);
    describeCalls(make);
    describeLinks(makeLink);
  });
}
