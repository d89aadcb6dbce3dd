import { readFileSync } from "node:fs";
import { join } from "node:path";

import { languages, type RemoteManifest } from "@relicario/shared/contract";

/**
 * Titles that the frame shows without the remote's code, and that the release's texts lack.
 *
 * @param folder of the release
 * @returns a sentence for each
 */
export function findMissingTitles({ navigation = [] }: RemoteManifest, folder: string): readonly string[] {
  return navigation.flatMap(({ route, titleKey }) =>
    languages
      .filter((language) => !hasText(folder, language, titleKey))
      .map((language) => `the navigation entry ${route} has no text ${titleKey} in locales/${language}`),
  );
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
