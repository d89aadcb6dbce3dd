/**
 * Runs a process in a container: `node with-secrets.ts service|identity|gateway`. Creates its
 * secrets at the first start and keeps them in its volume. Elsewhere the environment supplies them.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { rootFolder } from "../paths.ts";
import { loadDemoAccount, loadIdentitySecrets, loadServiceSecrets } from "../keys/process-secrets.ts";

const keysFolder = process.env["KEYS_FOLDER"] ?? "/keys";
const roles = {
  service: { script: "api/src/main.ts", secrets: () => loadServiceSecrets(keysFolder) },
  identity: {
    script: "api/src/identity/main.ts",
    secrets: async () => ({
      ...(await loadIdentitySecrets(keysFolder)),
      ...(process.env["WITH_DEMO_ACCOUNT"] === "yes" ? { DEMO_ACCOUNT: await logDemoAccount() } : {}),
    }),
  },
  gateway: {
    script: "tooling/src/serve/gateway-main.ts",
    secrets: async () => ({ PORTAL_PAGE: readTrustAnchors() }),
  },
} as const;

const [name] = process.argv.slice(2);
const role = name === "service" || name === "identity" || name === "gateway" ? roles[name] : null;
if (role === null) throw new TypeError(`name one of ${Object.keys(roles).join(", ")}`);
Object.assign(process.env, await role.secrets());
await import(pathToFileURL(join(rootFolder, role.script)).href);

/** Public keys, which the deployment signer writes and the gateway puts into the host's page. */
function readTrustAnchors(): string {
  const { DEPLOYMENTS_FOLDER = "", VENDOR_ID = "relicario" } = process.env;
  return readFileSync(join(DEPLOYMENTS_FOLDER, `${VENDOR_ID}.page.json`), "utf8");
}

/** Logs the demo account: its password is random. */
async function logDemoAccount(): Promise<string> {
  const account = await loadDemoAccount(keysFolder);
  console.log(`Demo account: ${account.email}, password ${account.password}`);
  return JSON.stringify(account);
}
