/**
 * Which package may import which, and which library has its home where, for
 * eslint-plugin-boundaries. A message says why, and where to go instead. Static imports,
 * re-exports, `import()`, also of types, and `require()` are all looked at.
 */
import { posix } from "node:path";

import type { Linter } from "eslint";
import boundaries from "eslint-plugin-boundaries";

import { rootFolder } from "../paths.ts";
import { packageFolders } from "../remotes.ts";

const getPackageName = (folder: string): string => posix.basename(folder);
const packageNames = packageFolders.map(getPackageName);
const remotes = packageNames.filter((name) => name.startsWith("remote-"));
/** They may use all of `shared`. */
const uiPackages = [...remotes, "host", "engine", "vault", "e2e"];
/** Packages inside an area: only that area, and those beside them, use them. */
const nestedPackages = packageFolders.filter((folder) => folder.includes("/"));

const testPatterns = ["**/*.test.{ts,tsx}", "**/testing/**"];

const fromPackages = (...type: readonly string[]) => ({ element: { type } });
const fromFiles = (...path: readonly string[]) => ({ file: { path } });
const byName = (...types: readonly string[]) => ({ module: { source: types.map((name) => `@relicario/${name}`) } });
const byPath = (...type: readonly string[]) => ({ element: { type }, module: { origin: "local" } });
const byNameOrPath = (...types: readonly string[]) => [byName(...types), byPath(...types)];
const entryPoint = (...internalPath: readonly string[]) => ({ module: { source: "@relicario/shared", internalPath } });

const importer = "{{ from.element.type }}";
const imported = "{{#if to.module.source}}{{ to.module.source }}{{else}}{{ to.element.type }}{{/if}}";

/** What a package may import of the others, by name. */
const allowedImports = [
  { from: fromPackages(...uiPackages), targets: ["shared"] },
  { from: fromPackages("remote-recovery"), targets: ["engine", "vault"] },
  { from: fromPackages("vault"), targets: ["engine"] },
  // What the vault's tests take for the service is compared with it.
  { from: fromFiles("remote-recovery/vault/src/contracts/**"), targets: ["api"] },
  // The engine's browsers, and what a person's picture gives, for attacks.
  { from: fromPackages("e2e"), targets: ["tooling", "engine"] },
  // Tests of the service start a database server.
  { from: fromFiles("api/**/*.test.ts", "api/**/testing/**", "api/**/*.{config,setup}.*"), targets: ["tooling"] },
];

/** Libraries with which one can do harm, each with its homes. */
const restrictedLibraries = [
  {
    library: "oidc-client-ts",
    folders: ["host/src/session"],
    advice: "sign-in has one owner; ask for what you need in host/src/session, and in a remote use usePortal().user",
  },
  {
    library: "age-encryption",
    folders: ["remote-recovery/vault", "e2e/support"],
    advice: "sealing has one owner; ask the vault (usePortal().vault) for the outcome",
  },
  {
    library: "hash-wasm",
    folders: ["remote-recovery/vault"],
    advice:
      "passphrases are stretched in the vault and nowhere else; passwords by Node's own argon2 in the identity provider",
  },
  {
    library: "jose",
    folders: [
      "host/src/session",
      "host/src/deployment",
      "remote-recovery/vault",
      "api/src/auth",
      "api/src/identity",
      "tooling",
      "e2e",
    ],
    advice:
      "tokens and signatures are handled in host/src/session, host/src/deployment, the vault, api/src/auth and the identity provider",
  },
  {
    library: "pg",
    folders: ["api/src/db", "api/src/identity", "tooling/src/database", "tooling/src/backup", "e2e"],
    advice: "queries go through api/src/db",
  },
];

/**
 * Folders of the service below its resources, low to high: each may import those before its own.
 * Resources import each other without circles (`pnpm check:circles`).
 */
const serviceLayers = [
  ["db", "language"],
  ["resource"],
  ["http"],
  ["env", "objects", "public-ids"],
  ["vendors"],
  ["auth"],
  ["activity"],
  ["accounts", "mail"],
  ["services"],
  ["keyring"],
  ["secrets", "stages"],
];
const serviceFiles = (...folders: readonly string[]) => folders.map((folder) => `api/src/${folder}/**`);
const serviceOrder = [
  ...serviceLayers.flatMap((folders, layer) =>
    folders.flatMap((folder) => [
      {
        from: fromFiles(...serviceFiles(folder)),
        disallow: { to: fromFiles("api/src/**") },
        message: `${folder} is below what you import: let that register what it does (api/src/resource/resource.ts), or take it as an argument. The order is "Layers of the service" in ARCHITECTURE.md.`,
      },
      {
        from: fromFiles(...serviceFiles(folder)),
        allow: { to: fromFiles(...serviceFiles(folder, ...serviceLayers.slice(0, layer).flat())) },
      },
    ]),
  ),
  {
    from: fromFiles("api/src/*/**"),
    disallow: { to: fromFiles("api/src/*.ts", ...serviceFiles("jobs", "operations")) },
    message: "What composes the service is imported by nothing in it: take what you need as an argument.",
  },
  { from: fromFiles(...serviceFiles("jobs")), allow: { to: fromFiles(...serviceFiles("jobs")) } },
  { from: fromFiles(...serviceFiles("operations")), allow: { to: fromFiles(...serviceFiles("operations")) } },
];

/**
 * Folders of a package, and files beside them, low to high: each may import those of the lines
 * above its own. Files that are not named compose the others. ARCHITECTURE.md has the same lists.
 */
const layers = {
  "shared/src": [["errors", "webpack"], ["contract"], ["api", "i18n", "ui"], ["forms"]],
  "host/src": [
    ["deployment", "device", "onboarding", "popups", "service", "telemetry"],
    ["remotes", "routes", "session"],
    ["settings"],
    ["context"],
    ["area", "portal", "validate-email"],
    ["flags", "frame", "status"],
    ["tours"],
    ["help"],
  ],
  "remote-secrets/src": [["data"], ["form", "notices", "row", "uploads"], ["add", "history", "home", "list"], ["edit"]],
  "remote-recovery/src": [
    ["camera", "drives", "flow", "qr", "reset-account"],
    ["openers"],
    ["picture"],
    ["backup", "recover"],
    ["devices", "safeguard"],
  ],
  "remote-recovery/vault/src": [
    ["seal"],
    ["device", "passkey", "rpc"],
    ["transfer"],
    ["service"],
    ["session", "visitor"],
    ["keyring"],
    ["openers"],
    ["kit", "people", "secrets"],
    ["shares"],
    ["operations", "received", "requests"],
    ["device-links", "imports"],
    ["worker"],
    ["page"],
  ],
  "remote-sharing/src": [
    ["data", "landing", "link"],
    ["vault"],
    ["manage", "people", "provide", "requests"],
    ["create", "inbox", "open"],
  ],
  "remote-settings/src": [
    ["data", "frame"],
    ["account", "activity", "billing", "data-page", "feedback", "notifications", "profile", "security"],
  ],
  "tooling/src": [
    ["database", "error-code.ts", "paths.ts", "user-facing-error.ts"],
    ["keys", "serve", "compile-cache.ts", "remotes.ts"],
    ["lint", "release"],
    ["bundle", "create-remote", "deployment"],
    ["containers", "portal", "test"],
    ["checks", "develop"],
    ["start"],
    ["backup"],
  ],
} as const satisfies Readonly<Record<string, readonly (readonly string[])[]>>;

// Of the policies that fit an import the last one decides.
const policies = [
  // Refused, unless something below allows it; the closest reason last.
  {
    disallow: { to: byNameOrPath(...packageNames) },
    message: `${importer} may not import ${imported}: see "Imports flow one way" in CONTRIBUTING.md.`,
  },
  {
    disallow: { to: byNameOrPath("api") },
    message: `${importer} may not import api: talk to the service through its calls, with the schemas of shared/api.`,
  },
  {
    disallow: { to: byNameOrPath("host") },
    message: `${importer} may not import host: the host supplies what shared/contract declares; use usePortal().`,
  },
  {
    from: fromPackages("tooling"),
    disallow: { to: byName("shared") },
    message:
      "tooling may import only shared/contract, shared/errors, shared/api and shared/webpack: the others need a browser.",
  },
  {
    from: fromPackages("api"),
    disallow: { to: byName("shared") },
    message: "api may import only shared/api, shared/errors and shared/contract: the others need a browser.",
  },
  {
    from: fromPackages("host"),
    disallow: { to: byNameOrPath(...remotes) },
    message: `host may not import ${imported}: remotes are loaded at run time from the signed deployment document, so that each can be released alone.`,
  },
  {
    from: fromPackages("shared"),
    disallow: { to: byNameOrPath(...packageNames) },
    message: `shared may not import ${imported}: everything else is built on it. Declare what you need in shared/contract and let ${imported} supply it.`,
  },
  {
    from: fromPackages(...remotes),
    disallow: { to: byNameOrPath(...remotes) },
    message: `${importer} may not import ${imported}: ask the portal for the service, or link to a route.`,
  },
  ...nestedPackages.map((folder) => ({
    disallow: { to: byNameOrPath(getPackageName(folder)) },
    message: `${importer} may not import ${imported}, which belongs to ${posix.dirname(folder)}: ask the portal for the outcome (usePortal().vault).`,
  })),
  {
    from: fromPackages("engine"),
    disallow: { to: byNameOrPath("vault") },
    message: "engine may not import vault: it knows nothing of keys, and the vault is built on it.",
  },

  ...allowedImports.flatMap(({ from, targets }) => [
    { from, allow: { to: byName(...targets) } },
    {
      from,
      disallow: { to: byPath(...targets) },
      message: "Import {{ to.element.type }} by its name, @relicario/{{ to.element.type }}, not by a path into it.",
    },
  ]),
  { from: fromPackages("api"), allow: { to: entryPoint("api", "errors", "contract") } },
  {
    from: fromPackages("tooling"),
    allow: { to: entryPoint("contract", "contract/compatibility", "errors", "api", "webpack") },
  },

  {
    from: fromPackages(...uiPackages),
    disallow: { to: entryPoint("webpack") },
    message:
      "The build is no part of the product: only webpack.config.ts, and a folder webpack beside it, import @relicario/shared/webpack.",
  },
  // Tests of releases give them what the host's build gives.
  {
    from: { ...fromPackages(...uiPackages), ...fromFiles("**/webpack.config.ts", "**/webpack/**", "host/released/**") },
    allow: { to: entryPoint("webpack") },
  },
  {
    from: fromPackages(...uiPackages),
    disallow: { to: entryPoint("testing") },
    message: "Test doubles stay out of the product: only tests and standalone.tsx import @relicario/shared/testing.",
  },
  {
    from: [fromPackages("e2e"), { ...fromPackages(...uiPackages), ...fromFiles(...testPatterns, "**/standalone.tsx") }],
    allow: { to: entryPoint("testing") },
  },

  {
    disallow: { to: byPath("shared") },
    message:
      "Import shared by one of its doors (@relicario/shared/contract, /api, /ui, /forms, /errors, /i18n, /testing, /webpack): what is behind them may change.",
  },
  {
    disallow: { to: { module: { source: `@relicario/${importer}` } } },
    message: `Inside ${importer} import the file, not the package's door: a door that is used from within makes cycles.`,
  },

  ...restrictedLibraries.flatMap(({ library, folders, advice }) => [
    {
      disallow: { to: { module: { source: library } } },
      message: `{{ dependency.source }} belongs in ${folders.join(", ")}: ${advice}.`,
    },
    {
      from: fromFiles(...folders.map((folder) => `${folder}/**`), ...testPatterns),
      allow: { to: { module: { source: library } } },
    },
  ]),
];

/** Adds to all of the above what may be imported within a package. Tests may import any of it. */
const withinOrder = (files: readonly string[], order: readonly object[]): Linter.Config => ({
  files: [...files],
  ignores: testPatterns,
  rules: {
    "boundaries/dependencies": [
      "error",
      {
        default: "allow",
        checkAllOrigins: true,
        checkInternals: true,
        policies: [...policies, { allow: { dependency: { relationship: { to: "internal" } } } }, ...order],
      },
    ],
  },
});

/** One for each part, with what holds for it alone: comparing with patterns is slow. */
const layerConfigs = Object.entries(layers).flatMap(([root, rows]: [string, readonly (readonly string[])[]]) => {
  const toPath = (part: string) => `${root}/${part}${part.includes(".") ? "" : "/**"}`;
  const composing = `${root}/!(${rows.flat().join("|")})`;
  return rows.flatMap((row, index) =>
    row.map((part) => {
      const refused = [...row.filter((other) => other !== part), ...rows.slice(index + 1).flat()];
      return withinOrder(
        [toPath(part)],
        [
          {
            disallow: { to: fromFiles(composing, ...refused.map(toPath)) },
            message: `${part} is not above what you import: move what both need to a folder below, or take it as an argument. The order is "Layers" in ARCHITECTURE.md.`,
          },
        ],
      );
    }),
  );
});

const packageBoundaries: Linter.Config = {
  plugins: { boundaries },
  settings: {
    "boundaries/root-path": rootFolder,
    // The first that fits is taken: a package inside an area stands before it.
    "boundaries/elements": packageFolders
      .toSorted((a, b) => b.length - a.length)
      .map((folder) => ({ type: getPackageName(folder), pattern: folder, partialMatch: false })),
    "boundaries/dependency-nodes": ["import", "export", "dynamic-import", "require"],
    "boundaries/additional-dependency-nodes": [
      { selector: "TSImportType > Literal.source", kind: "type", name: "import-type" },
    ],
    "boundaries/flag-as-external": { customSourcePatterns: ["@relicario/**"] }, // judged by name, installed or not
    // else an installed library counts as part of the package whose folder holds it
    "boundaries/ignore": ["**/node_modules/**"],
    "boundaries/legacy-templates": false,
  },
  rules: { "boundaries/dependencies": ["error", { default: "allow", checkAllOrigins: true, policies }] },
};

export const importBoundaries: readonly Linter.Config[] = [
  packageBoundaries,
  withinOrder(["api/src/**"], serviceOrder),
  ...layerConfigs,
];
