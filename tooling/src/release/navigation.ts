import { readFileSync } from "node:fs";
import { join } from "node:path";

import { languages, type RemoteManifest } from "@relicario/shared/contract";
import { findNavigationProblems } from "@relicario/shared/contract/compatibility";

/**
 * Rules that a release's entries of the navigation break, and their titles that its texts lack: the
 * frame shows them without the remote's code.
 *
 * @param folder of the release
 * @returns a sentence for each
 */
export function findReleasedNavigationProblems(manifest: RemoteManifest, folder: string): readonly string[] {
  const missingTitles = (manifest.navigation ?? []).flatMap(({ route, titleKey }) =>
    languages
      .filter((language) => !hasText(folder, language, titleKey))
      .map((language) => `the navigation entry ${route} has no text ${titleKey} in locales/${language}`),
  );
  return [...findNavigationProblems(manifest), ...missingTitles];
}

function hasText(folder: string, language: string, titleKey: string): boolean {
  const [namespace = "", key = ""] = titleKey.split(":");
  const file = join(folder, "locales", language, `${namespace}.json`);
  let node = readJson(file);
  for (const name of key.split("."))
    node =
      typeof node === "object" && node !== null && Object.hasOwn(node, name)
        ? (node as Readonly<Record<string, unknown>>)[name]
        : undefined;
  return typeof node === "string" && node !== "";
}

/** Undefined for a file that is missing or no JSON. */
function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}
