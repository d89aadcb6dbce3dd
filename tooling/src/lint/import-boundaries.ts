/**
 * Rules for eslint-plugin-boundaries: which package may import which, and which folders may import
 * a restricted library. Messages give reason and alternative. The rules cover static imports,
 * re-exports, `import()`, also of types, and `require()`.
 */
import { posix } from "node:path";

import type { Linter } from "eslint";
import boundaries from "eslint-plugin-boundaries";

import { rootFolder } from "../paths.ts";
import { packageFolders } from "../remotes.ts";

const getPackageName = (folder: string): string => posix.basename(folder);
const packageNames = packageFolders.map(getPackageName);
const remotes = packageNames.filter((name) => name.startsWith("remote-"));
/** May import all of `shared`. */
const uiPackages = [...remotes, "host", "engine", "vault", "e2e"];
/** Only their area and its other packages may import them. */
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

/** Allowed imports of other packages, by name. */
const allowedImports = [
  { from: fromPackages(...uiPackages), targets: ["shared"] },
  { from: fromPackages("remote-recovery"), targets: ["engine", "vault"] },
  { from: fromPackages("vault"), targets: ["engine"] },
  // Contract tests compare the real service with the vault's fake.
  { from: fromFiles("remote-recovery/vault/src/contracts/**"), targets: ["api"] },
  // The engine's browser launcher, and keys of pictures for attacks.
  { from: fromPackages("e2e"), targets: ["tooling", "engine"] },
  // Tests of the service start a database server.
  { from: fromFiles("api/**/*.test.ts", "api/**/testing/**", "api/**/*.{config,setup}.*"), targets: ["tooling"] },
];

/** Security-critical libraries, each with the folders that may import it. */
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
    folders: [
      "api/src/db",
      "api/src/identity",
      "tooling/src/database",
      "tooling/src/tracing",
      "tooling/src/backup",
      "e2e",
    ],
    advice: "queries go through api/src/db",
  },
  {
    library: "@aws-sdk/client-s3",
    folders: ["tooling/src/objects"],
    advice: "objects go through the store (tooling/src/objects)",
  },
];

/**
 * Folders below the resources, low to high; each may import those before it. Resources import each
 * other without cycles (`pnpm check:circles`).
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
    disallow: { to: fromFiles("api/src/*.ts", ...serviceFiles("jobs", "monitoring")) },
    message: "No folder imports the files that compose the service: take what you need as an argument.",
  },
  { from: fromFiles(...serviceFiles("jobs")), allow: { to: fromFiles(...serviceFiles("jobs")) } },
  { from: fromFiles(...serviceFiles("monitoring")), allow: { to: fromFiles(...serviceFiles("monitoring")) } },
];

/**
 * Low to high; each folder may import those of earlier rows. Files that are not listed compose the
 * others. ARCHITECTURE.md has the same lists.
 */
const layers = {
  "shared/src": [["errors", "webpack"], ["contract"], ["api", "i18n", "ui"], ["forms"]],
  "host/src": [
    ["deployment", "device", "onboarding", "popups", "service", "telemetry"],
    ["remotes", "routes", "safe-start", "session", "vault-frame", "vault-origin"],
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
    ["elements"],
    ["openers"],
    ["opened", "picture"],
    ["backup", "element-views", "recover"],
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
    ["frame"],
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
    ["error-code.ts", "paths.ts", "process-alive.ts", "user-facing-error.ts"],
    ["database"],
    ["http", "keys", "objects", "tracing", "compile-cache.ts", "remotes.ts"],
    ["serve"],
    ["lint", "release"],
    ["bundle", "remote-tools", "deployment"],
    ["portal", "test"],
    ["checks", "containers", "develop"],
    ["start"],
    ["backup"],
    ["operate"],
  ],
} as const satisfies Readonly<Record<string, readonly (readonly string[])[]>>;

// The last policy that matches an import decides.
const policies = [
  // Refusals, the most specific last; what follows allows exceptions.
  {
    disallow: { to: byNameOrPath(...packageNames) },
    message: `${importer} may not import ${imported}: see "Folders" in ARCHITECTURE.md.`,
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
    message: `shared may not import ${imported}: everything else depends on it. Declare what you need in shared/contract and let ${imported} supply it.`,
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
    message: "engine may not import vault: the engine handles no keys, and the vault depends on it.",
  },

  ...allowedImports.flatMap(({ from, targets }) => [
    { from, allow: { to: byName(...targets) } },
    {
      from,
      disallow: { to: byPath(...targets) },
      message: "Import {{ to.element.type }} by its name, @relicario/{{ to.element.type }}, not by a path into it.",
    },
  ]),
  { from: fromPackages("api"), allow: { to: entryPoint("api", "api/signatures", "errors", "contract") } },
  // Limits of connections, which all servers share; the object store, which backups share.
  {
    from: fromPackages("api"),
    allow: { to: { module: { source: "@relicario/tooling", internalPath: ["http", "objects", "tracing"] } } },
  },
  {
    from: fromPackages("tooling"),
    allow: { to: entryPoint("contract", "contract/compatibility", "errors", "api", "webpack", "webpack/versions") },
  },

  {
    from: fromPackages(...uiPackages),
    disallow: { to: entryPoint("webpack", "webpack/versions") },
    message:
      "The build is not part of the product: only webpack.config.ts, and a folder webpack next to it, may import @relicario/shared/webpack.",
  },
  // Tests of releases share what the host's build shares.
  {
    from: { ...fromPackages(...uiPackages), ...fromFiles("**/webpack.config.ts", "**/webpack/**", "host/released/**") },
    allow: { to: entryPoint("webpack") },
  },
  {
    from: fromPackages(...uiPackages),
    disallow: { to: entryPoint("testing") },
    message: "Test doubles stay out of the product: only tests may import @relicario/shared/testing.",
  },
  {
    from: [fromPackages("e2e"), { ...fromPackages(...uiPackages), ...fromFiles(...testPatterns) }],
    allow: { to: entryPoint("testing") },
  },

  {
    disallow: { to: byPath("shared") },
    message:
      "Import shared by one of its entry points (@relicario/shared/contract, /api, /ui, /forms, /errors, /i18n, /testing, /webpack): its files may move.",
  },
  {
    disallow: { to: { module: { source: `@relicario/${importer}` } } },
    message: `Inside ${importer} import the file, not the package's entry point, which makes cycles.`,
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

/** Adds an order within a package to all policies. Tests are exempt. */
const createOrderConfig = (files: readonly string[], order: readonly object[]): Linter.Config => ({
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

/** Each part has its own policies only: matching patterns is slow. */
const layerConfigs = Object.entries(layers).flatMap(([root, rows]: [string, readonly (readonly string[])[]]) => {
  const toPath = (part: string) => `${root}/${part}${part.includes(".") ? "" : "/**"}`;
  const composingFiles = `${root}/!(${rows.flat().join("|")})`;
  return rows.flatMap((row, index) =>
    row.map((part) => {
      const refusedParts = [...row.filter((other) => other !== part), ...rows.slice(index + 1).flat()];
      return createOrderConfig(
        [toPath(part)],
        [
          {
            disallow: { to: fromFiles(composingFiles, ...refusedParts.map(toPath)) },
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
    // The first match counts, so nested packages precede their area.
    "boundaries/elements": packageFolders
      .toSorted((a, b) => b.length - a.length)
      .map((folder) => ({ type: getPackageName(folder), pattern: folder, partialMatch: false })),
    "boundaries/dependency-nodes": ["import", "export", "dynamic-import", "require"],
    "boundaries/additional-dependency-nodes": [
      { selector: "TSImportType > Literal.source", kind: "type", name: "import-type" },
    ],
    "boundaries/flag-as-external": { customSourcePatterns: ["@relicario/**"] }, // matched by name, installed or not
    // otherwise an installed library belongs to the package whose folder holds it
    "boundaries/ignore": ["**/node_modules/**"],
    "boundaries/legacy-templates": false,
  },
  rules: { "boundaries/dependencies": ["error", { default: "allow", checkAllOrigins: true, policies }] },
};

export const importBoundaries: readonly Linter.Config[] = [
  packageBoundaries,
  createOrderConfig(["api/src/**"], serviceOrder),
  ...layerConfigs,
];
