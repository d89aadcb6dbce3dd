import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Deployment, PortalTrustAnchors } from "@relicario/shared/contract";

import { makeDeployment } from "../../deployment/deployment.ts";
import { loadOrCreateKeyPair, loadTeamKeyPair, type SigningKeyPair } from "../../keys/signing-keys.ts";
import { makeRelease, type Release } from "../../release/release.ts";
import { publishAtStart } from "../operations.ts";
import { openStore, type PortalStore } from "../store.ts";

/** A portal with tiny remotes, in a temporary folder. */
export interface TestPortal {
  readonly store: PortalStore;
  readonly folder: string;
  /** Returns the package's folder. */
  readonly build: (remote: string, script: string, manifest?: object) => string;
  readonly loadTeamKey: (remote: string) => Promise<SigningKeyPair>;
  /** Publishes like `npm start`, with the current builds. */
  readonly start: (vendor?: string, page?: Partial<PortalTrustAnchors>, now?: Date) => Promise<Deployment>;
  readonly remove: () => void;
}

const testRemotes = ["notes", "garden"];

export async function createTestPortal(): Promise<TestPortal> {
  const folder = mkdtempSync(join(tmpdir(), "portal-"));
  const keys = join(folder, "keys");
  const store = await openStore({
    keysFolder: keys,
    deploymentsFolder: join(folder, "deployments"),
    registryFolder: join(folder, "releases"),
  });
  const loadTeamKey = (remote: string): Promise<SigningKeyPair> => loadTeamKeyPair(remote, keys);
  const packageFolder = (remote: string): string => join(folder, "packages", remote);

  const build: TestPortal["build"] = (remote, script, manifest = {}) => {
    const target = packageFolder(remote);
    mkdirSync(join(target, "build/web"), { recursive: true });
    writeFileSync(join(target, "package.json"), JSON.stringify({ version: "1.0.0" }));
    const routes = [{ path: `/${remote}`, titleKey: `${remote}:title`, access: "signed_in", shell: true }];
    writeFileSync(
      join(target, "manifest.json"),
      JSON.stringify({
        name: remote,
        contract: "^3",
        title: { en: remote, es: remote },
        routes,
        namespaces: [remote],
        capabilities: [],
        api_paths: [],
        ...manifest,
      }),
    );
    for (const language of ["en", "es"]) {
      mkdirSync(join(target, "src/locales", language), { recursive: true });
      writeFileSync(join(target, `src/locales/${language}/${remote}.json`), "{}");
    }
    writeFileSync(join(target, "build/web/remoteEntry.js"), script);
    writeFileSync(join(target, "build/web/resolved-versions.json"), "{}");
    writeFileSync(join(target, "build/web/mf-manifest.json"), JSON.stringify({ id: remote, name: remote }));
    return target;
  };
  for (const remote of testRemotes) build(remote, `${remote} of the first day`);

  return {
    store,
    folder,
    build,
    loadTeamKey,
    start: async (vendor = "relicario", page = {}, now) => {
      const releases = await Promise.all(
        testRemotes.map(async (remote): Promise<Release> =>
          makeRelease({
            remote,
            packageFolder: packageFolder(remote),
            webFolder: join(packageFolder(remote), "build/web"),
            keyPair: await loadTeamKey(remote),
          }),
        ),
      );
      const teamKeys: PortalTrustAnchors["team_keys"] = Object.fromEntries(
        await Promise.all(
          testRemotes.map(
            async (remote) =>
              [remote, [(await loadTeamKey(remote)).publicKey]] satisfies [
                string,
                PortalTrustAnchors["team_keys"][string],
              ],
          ),
        ),
      );
      const identity = { authority: "https://id.example.org/realms/x", client_id: "portal", scope: "openid" };
      const deploymentInput = {
        vendorId: "relicario",
        origin: `https://${vendor}.example.org`,
        vaultOrigin: `https://vault.${vendor}.example.org`,
        environment: "test",
        appVersion: "1.0.0",
        identity,
        api: { base_url: `https://${vendor}.example.org/api`, credentials: false },
        releases,
      };
      const key = await loadOrCreateKeyPair(keys, "portal");
      const deployment = { ...makeDeployment(deploymentInput, 1, new Date()), vendor_id: vendor };
      return publishAtStart(
        { ...store, portalKeyPair: key },
        {
          deployment,
          trustAnchors: { vendor_id: vendor, portal_keys: [key.publicKey], team_keys: teamKeys, ...page },
          releases,
        },
        now,
      );
    },
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
