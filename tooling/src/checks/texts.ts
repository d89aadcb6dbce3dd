/** `pnpm check:texts`: every text that is used exists in both languages, and none is left over. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { hostNamespaces, languages, RemoteManifest } from "@relicario/shared/contract";
import { errorCodes } from "@relicario/shared/errors";

import { rootFolder } from "../paths.ts";
import { listFiles } from "../release/files.ts";
import { remoteNames } from "../remotes.ts";
import { findTextProblems, type TextReference, type SourceFile, type TextFile } from "./text-keys.ts";

const remotes = remoteNames.map((name) => `remote-${name}`);
const excludedFiles = /\.test\.tsx?$|(^|\/)testing\/|\.d\.ts$/;

const sources: SourceFile[] = [];
const texts: TextFile[] = [];
for (const owner of ["host", "shared", ...remotes]) {
  const folder = join(rootFolder, owner, "src");
  for (const file of listFiles(folder)) {
    if (!/\.tsx?$/.test(file) || excludedFiles.test(file)) continue;
    sources.push({ path: `${owner}/src/${file}`, text: readFileSync(join(folder, file), "utf8") });
  }
  for (const language of languages) {
    const locales = join(folder, "locales", language);
    for (const file of existsSync(locales) ? readdirSync(locales) : []) {
      texts.push({
        owner,
        language,
        namespace: file.replace(/\.json$/, ""),
        content: JSON.parse(readFileSync(join(locales, file), "utf8")),
      });
    }
  }
}

// Titles of screens stand in the manifests.
const titleReferences = remotes.flatMap((owner): TextReference[] => {
  const path = `${owner}/manifest.json`;
  return RemoteManifest.parse(JSON.parse(readFileSync(join(rootFolder, path), "utf8"))).routes.map(({ titleKey }) => ({
    path,
    key: titleKey,
  }));
});

const problems = findTextProblems(sources, texts, languages, titleReferences);
const owners = new Map<string, Set<string>>();
for (const { namespace, owner } of texts) owners.set(namespace, (owners.get(namespace) ?? new Set()).add(owner));
for (const [namespace, namespaceOwners] of owners)
  if (namespaceOwners.size > 1)
    problems.push(`The namespace ${namespace} has more than one owner: ${[...namespaceOwners].join(", ")}.`);
// What no remote may claim is what the host has.
for (const namespace of new Set([...owners.keys(), ...hostNamespaces])) {
  if ((owners.get(namespace)?.has("host") === true) !== hostNamespaces.includes(namespace))
    problems.push(`hostNamespaces of the contract and the host's texts differ by ${namespace}.`);
}
// A code without a sentence would reach a person as `errors:unknown`.
const errors = texts.find(({ namespace, language }) => namespace === "errors" && language === "en")?.content;
for (const code of errorCodes)
  if (typeof errors !== "object" || errors === null || !(code in errors)) problems.push(`errors:${code} has no text.`);

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
console.log(
  `${String(texts.length)} text files, ${String(sources.length)} sources, ${String(problems.length)} problems`,
);
