/**
 * Runs a released remote in a test's page, by the host's own way to remotes: the files that were
 * signed, with the host's packages.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { ReleaseRecord, type RemoteModule } from "@relicario/shared/contract";
import { integrityFunctionName, sharedModules } from "@relicario/shared/webpack";
import { init } from "@module-federation/enhanced/runtime";
import * as federationRuntime from "@module-federation/runtime-core";

import { getIntegrity, getReleaseUrl } from "../src/deployment/integrity.ts";
import { loadModule, registerReleases } from "../src/remotes/federation.ts";
import { parseModule } from "../src/remotes/remote-module.ts";

/** What the team signed of a release in this folder. */
export function readReleaseRecord(folder: string): ReleaseRecord {
  // JWS compact; the portal's tool checks who signed it
  const [, payload = ""] = readFileSync(join(folder, "release.json"), "utf8").split(".");
  return ReleaseRecord.parse(JSON.parse(Buffer.from(payload, "base64url").toString()));
}

/**
 * The remote of a release in this folder. Its scripts run as a browser would run them: only with
 * the hash that was signed.
 */
export async function runRelease(
  folder: string,
  record: ReleaseRecord,
  requirePackage: (name: string) => unknown,
): Promise<RemoteModule> {
  const releaseUrl = getReleaseUrl(location.origin, record);
  Object.assign(globalThis, { _FEDERATION_RUNTIME_CORE: federationRuntime, [integrityFunctionName]: getIntegrity });
  init({
    name: "relicario_host",
    remotes: [],
    shared: Object.fromEntries(
      Object.entries(sharedModules).map(([name, { version }]) => [
        name,
        { version, lib: () => requirePackage(name), shareConfig: { singleton: true, requiredVersion: `^${version}` } },
      ]),
    ),
  });
  registerReleases({ remotes: new Map([[record.manifest.name, { status: "verified", record }]]) }, location.origin);
  new MutationObserver((changes) => {
    for (const script of changes.flatMap(({ addedNodes }) => [...addedNodes])) {
      if (script instanceof HTMLScriptElement && script.src.startsWith(releaseUrl))
        runScript(script, join(folder, script.src.slice(releaseUrl.length)));
    }
  }).observe(document, { childList: true, subtree: true });
  const { routes, ...rest } = parseModule(await loadModule(record.manifest.name), record.manifest);
  return { ...rest, routes: Object.fromEntries(routes.map(({ path, load }) => [path, load])) };
}

/** This page loads no scripts, but runs those whose text it has. */
function runScript(script: HTMLScriptElement, file: string): void {
  const bytes = readFileSync(file);
  const isSigned = script.integrity === `sha384-${createHash("sha384").update(bytes).digest("base64")}`;
  if (isSigned) {
    const inline = document.createElement("script");
    inline.text = bytes.toString();
    document.head.append(inline);
    inline.remove();
  }
  script.dispatchEvent(new Event(isSigned ? "load" : "error"));
}
