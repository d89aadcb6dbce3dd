/**
 * `pnpm check:texts`: finds texts that are missing, unused or hard-coded, placeholders that differ
 * between languages, namespaces with more than one owner, host namespaces that the contract does
 * not reserve (and the reverse), error codes without a text, and false claims about pictures.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { hostNamespaces, languages, RemoteManifest } from "@relicario/shared/contract";
import { errorCodes } from "@relicario/shared/errors";

import { rootFolder } from "../paths.ts";
import { listFiles } from "../release/files.ts";
import { remoteNames } from "../remotes.ts";
import { listCheckoutFiles } from "../test/changed-files.ts";
import { findFalseClaims } from "./false-claims.ts";
import { findTextProblems, type TextReference, type SourceFile, type TextFile } from "./text-keys.ts";

const remoteFolders = remoteNames.map((name) => `remote-${name}`);
const excludedFilePattern = /\.test\.tsx?$|(^|\/)testing\/|\.d\.ts$/;

const sources: SourceFile[] = [];
const textFiles: TextFile[] = [];
for (const owner of ["host", "shared", ...remoteFolders]) {
  const folder = join(rootFolder, owner, "src");
  for (const file of listFiles(folder)) {
    if (!/\.tsx?$/.test(file) || excludedFilePattern.test(file)) continue;
    sources.push({ path: `${owner}/src/${file}`, text: readFileSync(join(folder, file), "utf8") });
  }
  for (const language of languages) {
    const localeFolder = join(folder, "locales", language);
    for (const file of existsSync(localeFolder) ? readdirSync(localeFolder) : []) {
      textFiles.push({
        owner,
        language,
        namespace: file.replace(/\.json$/, ""),
        content: JSON.parse(readFileSync(join(localeFolder, file), "utf8")),
      });
    }
  }
}

const titleReferences = remoteFolders.flatMap((owner): TextReference[] => {
  const path = `${owner}/manifest.json`;
  const { routes, navigation = [] } = RemoteManifest.parse(JSON.parse(readFileSync(join(rootFolder, path), "utf8")));
  return [...routes, ...navigation].map(({ titleKey }) => ({ path, key: titleKey }));
});

const problems = findTextProblems(sources, textFiles, languages, titleReferences);
const ownersByNamespace = new Map<string, Set<string>>();
for (const { namespace, owner } of textFiles)
  ownersByNamespace.set(namespace, (ownersByNamespace.get(namespace) ?? new Set()).add(owner));
for (const [namespace, namespaceOwners] of ownersByNamespace)
  if (namespaceOwners.size > 1)
    problems.push(`The namespace ${namespace} has more than one owner: ${[...namespaceOwners].join(", ")}.`);
// The contract's `hostNamespaces` reserves exactly the host's namespaces: no remote may claim one.
for (const namespace of new Set([...ownersByNamespace.keys(), ...hostNamespaces])) {
  const isOwnedByHost = ownersByNamespace.get(namespace)?.has("host") === true;
  if (isOwnedByHost && !hostNamespaces.includes(namespace))
    problems.push(`The contract's hostNamespaces lacks the host's namespace ${namespace}.`);
  if (!isOwnedByHost && hostNamespaces.includes(namespace))
    problems.push(`The host has no texts in ${namespace}, which the contract's hostNamespaces lists.`);
}
// An error code without a text would be shown as `errors:unknown`.
const errorTexts = textFiles.find(({ namespace, language }) => namespace === "errors" && language === "en")?.content;
for (const code of errorCodes)
  if (typeof errorTexts !== "object" || errorTexts === null || !(code in errorTexts))
    problems.push(`errors:${code} has no text.`);

// Texts of the service, of vendors and of pages without a portal make claims, too.
const pathsInBothLanguages = ["host/src/index.html", "remote-recovery/vault/src/kit/page/texts.ts"];
const claimPaths = (await listCheckoutFiles()).flatMap((path) => {
  const language = languages.find((name) => new RegExp(`/locales/${name}[./].*json$`).test(path));
  if (language !== undefined) return [{ path, language }];
  if (path === "README.md") return [{ path, language: "en" as const }];
  return pathsInBothLanguages.includes(path) ? languages.map((name) => ({ path, language: name })) : [];
});
for (const { path, language } of claimPaths)
  for (const line of readFileSync(join(rootFolder, path), "utf8").split("\n"))
    for (const claim of findFalseClaims(language, line))
      problems.push(`${path}: "${claim.trim()}" is not true of a picture without a passphrase.`);

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
console.log(
  `${String(textFiles.length)} text files, ${String(sources.length)} sources, ${String(problems.length)} problems`,
);
