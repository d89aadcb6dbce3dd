/**
 * Which package may import which, and which library has its home where. A message says why, and where to go instead.
 * Static imports, re-exports, `import()` and `require()` are all looked at.
 */
import { posix, relative, sep } from "node:path";

import type { Rule } from "eslint";

import { packageOf, packages } from "../remotes.ts";

/** What a package may import of the others, remotes as one; an entry with a `/` is one door of `shared`. A package inside an area goes by its own name. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  shared: [],
  "remote-*": ["shared"],
  "remote-recovery": ["shared", "engine", "vault"],
  vault: ["shared", "engine"],
  engine: ["shared"],
  host: ["shared"],
  api: ["shared/api", "shared/errors", "shared/contract"],
  tooling: ["shared/contract", "shared/errors", "shared/api", "shared/webpack"],
  e2e: ["shared", "tooling"],
};

/** Tests of the service start a database server. */
const mayImportInTests: Readonly<Record<string, readonly string[]>> = { api: ["tooling"], e2e: ["shared", "tooling"] };

/** Libraries with which one can do harm, each with its homes. */
const homes: readonly { readonly libraries: readonly string[]; readonly folders: readonly string[]; readonly instead: string }[] = [
  {
    libraries: ["oidc-client-ts"],
    folders: ["host/src/session"],
    instead: "sign-in has one owner; ask for what you need in host/src/session, and in a remote use usePortal().user",
  },
  {
    libraries: ["age-encryption"],
    folders: ["remote-recovery/vault", "e2e/support"],
    instead: "sealing has one owner; ask the vault (usePortal().vault) for the outcome",
  },
  {
    libraries: ["hash-wasm"],
    folders: ["remote-recovery/vault", "api/src/identity"],
    instead: "passphrases are stretched in the vault, passwords by the identity provider, and nowhere else",
  },
  {
    libraries: ["jose"],
    folders: ["host/src/session", "host/src/deployment", "remote-recovery/vault", "api/src/auth", "api/src/identity", "tooling", "e2e"],
    instead: "tokens and signatures are handled in host/src/session, host/src/deployment, the vault, api/src/auth and the identity provider",
  },
  {
    libraries: ["pg"],
    folders: ["api/src/db", "api/src/identity", "tooling/src/database", "e2e"],
    instead: "queries go through api/src/db",
  },
];

const isTest = (file: string): boolean => /\.test\.tsx?$|(^|\/)testing\//.test(file);
const within = (file: string, folder: string): boolean => file.startsWith(`${folder}/`);
/** A package's name behind `@relicario/`: that of its own folder. */
const nameOf = (folder: string): string => posix.basename(folder);
/** Packages inside an area: only that area, and those beside them, use them. */
const inside = packages.filter((folder) => folder.includes("/"));

/** The message for an import of `specifier` in `file` (path from the root, with `/`); null when it is fine. */
export function objectionTo(file: string, specifier: string): string | null {
  const folder = packageOf(file);
  if (folder === null) return null;
  const own = nameOf(folder);

  if (specifier.startsWith(".")) {
    const target = posix.normalize(posix.join(posix.dirname(file), specifier));
    const there = packageOf(target);
    if (there === null || there === folder) return null;
    const other = nameOf(there);
    if (other === "shared") return "Import shared by one of its doors (@relicario/shared/contract, /api, /ui, /forms, /errors, /i18n, /testing, /webpack): what is behind them may change.";
    return objectionToPackage(file, own, other) ?? `Import ${other} by its name, @relicario/${other}, not by a path into it.`;
  }

  const [, named, door] = /^@relicario\/([^/]+)(?:\/(.+))?$/.exec(specifier) ?? [];
  if (named !== undefined) return objectionToPackage(file, own, named, door);

  const library = homes.find(({ libraries }) => libraries.some((name) => specifier === name || specifier.startsWith(`${name}/`)));
  if (library === undefined || isTest(file) || library.folders.some((folder) => within(file, folder))) return null;
  return `${specifier} belongs in ${library.folders.join(", ")}: ${library.instead}.`;
}

function objectionToPackage(file: string, own: string, other: string, door?: string): string | null {
  if (other === own) return `Inside ${own} import the file, not the package's door: a door that is used from within makes cycles.`;
  const allowed = [...(mayImport[own] ?? mayImport[own.replace(/^remote-.*/, "remote-*")] ?? []), ...(isTest(file) || /\.(config|setup)\./.test(file) ? (mayImportInTests[own] ?? []) : [])];
  if (allowed.includes(other) || (door !== undefined && allowed.includes(`${other}/${door}`))) {
    if (other === "shared" && door === "webpack" && own !== "tooling" && !/(^|\/)webpack(\.config\.ts|\/)/.test(file)) {
      return "The build is no part of the product: only webpack.config.ts, and a folder webpack beside it, import @relicario/shared/webpack.";
    }
    if (other === "shared" && door === "testing" && !isTest(file) && !file.endsWith("/standalone.tsx") && own !== "e2e") {
      return "Test doubles stay out of the product: only tests and standalone.tsx import @relicario/shared/testing.";
    }
    return null;
  }
  const area = inside.find((folder) => nameOf(folder) === other);
  if (own === "engine" && other === "vault") return "engine may not import vault: it knows nothing of keys, and the vault is built on it.";
  if (area !== undefined) return `${own} may not import ${other}, which belongs to ${posix.dirname(area)}: ask the portal for the outcome (usePortal().vault).`;
  if (own.startsWith("remote-") && other.startsWith("remote-")) return `${own} may not import ${other}: ask the portal for the service, or link to a route.`;
  if (own === "shared") return `shared may not import ${other}: everything else is built on it. Declare what you need in shared/contract and let ${other} supply it.`;
  if (own === "host" && other.startsWith("remote-")) return `host may not import ${other}: remotes are loaded at run time from the signed deployment document, so that each can be released alone.`;
  if (own === "api" && other === "shared") return "api may import only shared/api, shared/errors and shared/contract: the others need a browser.";
  if (own === "tooling" && other === "shared") return "tooling may import only shared/contract, shared/errors, shared/api and shared/webpack: the others need a browser.";
  if (other === "host") return `${own} may not import host: the host supplies what shared/contract declares; use usePortal().`;
  if (other === "api") return `${own} may not import api: talk to the service through its calls, with the schemas of shared/api.`;
  return `${own} may not import ${other}: see "Imports flow one way" in CONTRIBUTING.md.`;
}

const boundaries: Rule.RuleModule = {
  meta: { type: "problem", schema: [], messages: { boundary: "{{objection}}" } },
  create(context) {
    const file = relative(context.cwd, context.filename).split(sep).join("/");
    const check = (source: Rule.Node | { readonly type: string } | null | undefined): void => {
      if (source?.type !== "Literal" || !("value" in source) || typeof source.value !== "string") return;
      const objection = objectionTo(file, source.value);
      if (objection !== null) context.report({ node: source, messageId: "boundary", data: { objection } });
    };
    return {
      ImportDeclaration: ({ source }) => { check(source); },
      ExportNamedDeclaration: ({ source }) => { check(source); },
      ExportAllDeclaration: ({ source }) => { check(source); },
      ImportExpression: ({ source }) => { check(source); },
      CallExpression: ({ callee, arguments: [first] }) => {
        if (callee.type === "Identifier" && callee.name === "require") check(first);
      },
    };
  },
};

export const importBoundaries = { rules: { boundaries } };
