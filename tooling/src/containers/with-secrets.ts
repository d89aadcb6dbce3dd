/**
 * Runs a process in a container: `node with-secrets.ts service|identity|gateway`. Creates its
 * secrets at the first start and keeps them in its volume. Elsewhere the environment supplies them.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";

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
    secrets: async () => ({ PORTAL_PAGE: await waitForTrustAnchors() }),
  },
} as const;

const [name] = process.argv.slice(2);
const role = name === "service" || name === "identity" || name === "gateway" ? roles[name] : null;
if (role === null) throw new TypeError(`name one of ${Object.keys(roles).join(", ")}`);
Object.assign(process.env, await role.secrets());
await import(pathToFileURL(join(rootFolder, role.script)).href);

/**
 * Reads the public keys, which the gateway puts into the host's page, once the deployment signer of
 * the same image has written them.
 */
async function waitForTrustAnchors(): Promise<string> {
  const { BUILT_RELEASES_FOLDER = "", DEPLOYMENTS_FOLDER = "", VENDOR_ID = "relicario" } = process.env;
  const teamKeys: unknown = JSON.parse(readFileSync(join(BUILT_RELEASES_FOLDER, "team-keys.json"), "utf8"));
  const file = join(DEPLOYMENTS_FOLDER, `${VENDOR_ID}.page.json`);
  for (let isWaiting = false; ; isWaiting = true) {
    const page = existsSync(file) ? readFileSync(file, "utf8") : "{}";
    const { team_keys: pageKeys } = JSON.parse(page) as { readonly team_keys?: unknown };
    if (isDeepStrictEqual(pageKeys, teamKeys)) return page;
    if (!isWaiting) console.error("Waits for the deployment signer of this image.");
    await pause(500);
  }
}

/** Logs the demo account: its password is random. */
async function logDemoAccount(): Promise<string> {
  const account = await loadDemoAccount(keysFolder);
  console.log(`Demo account: ${account.email}, password ${account.password}`);
  return JSON.stringify(account);
}
