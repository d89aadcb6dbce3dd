import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

import type { Language } from "../contract/index.ts";
import type { FetchTexts, Texts } from "../i18n/index.ts";

/**
 * Creates a function that reads real texts from disk: those of the tested package, of the packages
 * next to it, and of the host, which this kit includes.
 *
 * @param localesFolder folder whose `<language>/<namespace>.json` take precedence
 */
export function createDiskTextsFetcher(localesFolder?: string): FetchTexts {
  return (language, namespace) => {
    const texts = readTexts(language, namespace, localesFolder);
    return texts === null
      ? Promise.reject(new Error(`no package has the texts ${language}/${namespace}`))
      : Promise.resolve(texts);
  };
}

/**
 * Reads the texts of one namespace; null when no package has them. `localesFolder` as in {@link
 * createDiskTextsFetcher}.
 */
export function readTexts(language: Language, namespace: string, localesFolder?: string): Texts | null {
  const root = findWorkspaceRoot();
  const packages = root === null ? [] : readdirSync(root).map((name) => path.join(root, name, "src", "locales"));
  for (const folder of [
    ...(localesFolder === undefined ? [] : [localesFolder]),
    path.join(process.cwd(), "src", "locales"),
    ...packages,
    path.join(import.meta.dirname, "locales"),
  ]) {
    const file = path.join(folder, language, `${namespace}.json`);
    if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8")) as Texts;
  }
  return null;
}

/**
 * Lists the keys of a namespace in dot notation, sorted and without plural suffixes. Two languages
 * must have the same keys.
 */
export function listTextKeys(texts: Texts, prefix = ""): string[] {
  const keys = Object.entries(texts).flatMap(([key, value]) =>
    typeof value === "object" && value !== null
      ? listTextKeys(value as Texts, `${prefix}${key}.`)
      : [`${prefix}${key}`.replace(/_(zero|one|two|few|many|other)$/, "")],
  );
  return [...new Set(keys)].sort();
}

/** @throws Error outside the portal's own workspace */
export function requireWorkspaceRoot(): string {
  const root = findWorkspaceRoot();
  if (root === null) throw new Error("run this test inside the workspace of the portal");
  return root;
}

function findWorkspaceRoot(): string | null {
  for (let folder = process.cwd(); ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, "pnpm-workspace.yaml"))) return folder;
    if (folder === path.dirname(folder)) return null;
  }
}
