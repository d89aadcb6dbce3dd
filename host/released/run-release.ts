/**
 * Runs a released remote in a test's page as the host does: the signed files, with the host's
 * shared packages.
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

/** Reads the record that the team signed, from a release's folder. */
export function readReleaseRecord(folder: string): ReleaseRecord {
  // compact JWS; the deployment tool verifies the signature
  const [, payload = ""] = readFileSync(join(folder, "release.json"), "utf8").split(".");
  return ReleaseRecord.parse(JSON.parse(Buffer.from(payload, "base64url").toString()));
}

/**
 * Loads the remote of a release's folder. Like in a browser, its scripts and stylesheets need the
 * signed hash.
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
    for (const node of changes.flatMap(({ addedNodes }) => [...addedNodes])) {
      const isScript = node instanceof HTMLScriptElement;
      if (!isScript && !(node instanceof HTMLLinkElement && node.rel === "stylesheet")) continue;
      const url = isScript ? node.src : node.href;
      if (url.startsWith(releaseUrl)) loadFile(node, join(folder, url.slice(releaseUrl.length)));
    }
  }).observe(document, { childList: true, subtree: true });
  const { routes, ...rest } = parseModule(await loadModule(record.manifest.name), record.manifest);
  return { ...rest, routes: Object.fromEntries(routes.map(({ path, load }) => [path, load])) };
}

/** jsdom loads no files by URL, but runs inline scripts and applies inline styles. */
function loadFile(element: HTMLScriptElement | HTMLLinkElement, file: string): void {
  const bytes = readFileSync(file);
  const isSigned = element.integrity === `sha384-${createHash("sha384").update(bytes).digest("base64")}`;
  if (isSigned) {
    const isScript = element instanceof HTMLScriptElement;
    const inline = document.createElement(isScript ? "script" : "style");
    inline.textContent = bytes.toString();
    document.head.append(inline);
    if (isScript) inline.remove();
  }
  element.dispatchEvent(new Event(isSigned ? "load" : "error"));
}
