import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

import { RemoteManifest } from "../contract/index.ts";
import { requireWorkspaceRoot } from "./texts-from-disk.ts";

/** Reads the manifests of the workspace's remotes, by name. */
export function readManifests(): ReadonlyMap<string, RemoteManifest> {
  const root = requireWorkspaceRoot();
  const files = readdirSync(root)
    .filter((name) => name.startsWith("remote-"))
    .map((name) => path.join(root, name, "manifest.json"));
  const manifests = files
    .filter((file) => existsSync(file))
    .map((file) => RemoteManifest.parse(JSON.parse(readFileSync(file, "utf8"))));
  return new Map(manifests.map((manifest) => [manifest.name, manifest]));
}
