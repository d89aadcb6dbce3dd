import { join } from "node:path";

import { Linter } from "eslint";
import tseslint from "typescript-eslint";

import { rootFolder } from "../paths.ts";
import { importBoundaries } from "./import-boundaries.ts";

const linter = new Linter({ cwd: rootFolder });
const config: Linter.Config[] = [
  { files: ["**/*.{ts,tsx,mjs}"], languageOptions: { parser: tseslint.parser } },
  ...importBoundaries,
];

/** `file` is a path from the root. */
const lintMessages = (file: string, source: string): string[] =>
  linter.verify(source, config, { filename: join(rootFolder, file) }).map(({ message }) => message);

// Imported paths exist: the rules leave unresolved ones to the type check.
describe("importBoundaries", () => {
  it.each([
    ["remote-secrets/src/home/HomePage.tsx", "@relicario/shared/ui"],
    ["remote-secrets/src/home/HomePage.tsx", "../data/secrets.ts"],
    ["host/src/session/provider.ts", "oidc-client-ts"],
    ["remote-recovery/vault/src/seal/age.ts", "age-encryption"],
    ["remote-recovery/vault/src/seal/book.ts", "@relicario/engine"],
    ["remote-recovery/vault/src/device/device.ts", "../seal/book.ts"],
    ["remote-recovery/vault/src/contracts/real-service.ts", "@relicario/api/testing/service"],
    ["remote-recovery/src/remote.tsx", "@relicario/vault"],
    ["remote-recovery/vault/src/seal/kdf.ts", "hash-wasm"],
    ["api/src/secrets/routes.ts", "@relicario/shared/api"],
    ["api/src/secrets/routes.test.ts", "@relicario/tooling/database"],
    ["api/src/secrets/store.ts", "../keyring/apply-change.ts"],
    ["api/src/shares/open-share.ts", "../requests/queries.ts"],
    ["api/src/keyring/keyring.test.ts", "../shares/queries.ts"],
    ["host/src/session/x.test.ts", "jose"],
    ["remote-sharing/webpack.config.ts", "@relicario/shared/webpack"],
    ["remote-recovery/engine/webpack/workers.ts", "@relicario/shared/webpack"],
    ["tooling/src/checks/surface.ts", "@relicario/shared/webpack"],
    ["remote-secrets/src/home/HomePage.test.tsx", "@relicario/shared/testing"],
    ["e2e/specs/sign-in.spec.ts", "@relicario/tooling/portal"],
    ["host/src/tours/TourHost.tsx", "../frame/use-media-query.ts"],
    ["host/src/App.tsx", "./tours/TourHost.tsx"],
    ["host/src/remotes/loader.test.ts", "../testing/fake-host.tsx"],
    ["host/src/session/tabs.test.ts", "../frame/Frame.tsx"],
    ["remote-recovery/vault/src/rpc/serve.ts", "../throw-if-cancelled.ts"],
    ["tooling/src/checks/types.ts", "../remotes.ts"],
    ["eslint.config.mjs", "./tooling/src/lint/import-boundaries.ts"],
  ])("allows %s to import %s", (file, specifier) => {
    expect(lintMessages(file, `import "${specifier}";`)).toEqual([]);
  });

  it.each([
    [
      "remote-sharing/src/links/LinksPage.tsx",
      "@relicario/remote-secrets",
      "ask the portal for the service, or link to a route",
    ],
    [
      "remote-sharing/src/links/LinksPage.tsx",
      "../../../remote-secrets/src/remote.tsx",
      "ask the portal for the service",
    ],
    ["host/src/App.tsx", "@relicario/remote-secrets/remote", "loaded at run time from the signed deployment document"],
    ["shared/src/ui/Card.tsx", "@relicario/host", "everything else depends on it"],
    ["shared/src/ui/Card.tsx", "@relicario/shared/errors", "makes cycles"],
    ["remote-secrets/src/home/HomePage.tsx", "../../../shared/src/ui/index.ts", "one of its entry points"],
    ["remote-secrets/src/home/HomePage.tsx", "@relicario/api", "schemas of shared/api"],
    ["remote-secrets/src/home/HomePage.tsx", "@relicario/host/session", "usePortal()"],
    ["remote-secrets/src/home/HomePage.tsx", "@relicario/shared/testing", "Test doubles stay out of the product"],
    ["remote-secrets/src/home/HomePage.tsx", "@relicario/shared/webpack", "not part of the product"],
    ["remote-sharing/webpack.config.ts", "@relicario/tooling/database", "may not import @relicario/tooling"],
    ["api/src/secrets/routes.ts", "@relicario/shared/ui", "the others need a browser"],
    ["api/src/secrets/routes.ts", "@relicario/tooling/database", "api may not import @relicario/tooling"],
    ["api/src/keyring/apply-change.ts", "../shares/end-shares.ts", "keyring is below what you import"],
    ["api/src/http/problem.ts", "../auth/session-tokens.ts", "http is below what you import"],
    ["api/src/secrets/store.ts", "../stages/stage.ts", "secrets is below what you import"],
    ["api/src/shares/collector.ts", "../jobs/sweep.ts", "take what you need as an argument"],
    ["api/src/shares/collector.ts", "../resources.ts", "take what you need as an argument"],
    ["host/src/frame/Frame.tsx", "oidc-client-ts", "sign-in has one owner"],
    ["remote-secrets/src/edit/edit.ts", "age-encryption/webauthn", "ask the vault"],
    ["api/src/secrets/queries.ts", "pg", "api/src/db"],
    ["host/src/remotes/load.ts", "jose", "host/src/deployment"],
    ["remote-recovery/engine/src/engine.ts", "@relicario/vault", "the engine handles no keys"],
    ["remote-recovery/vault/src/vault.ts", "../../src/remote.tsx", "vault may not import remote-recovery"],
    [
      "remote-recovery/vault/src/operations/unlock-and-open.test.ts",
      "@relicario/api/testing/service",
      "vault may not import api",
    ],
    [
      "remote-recovery/vault/src/contracts/real-service.ts",
      "../../../../api/src/testing/service.ts",
      "by its name, @relicario/api",
    ],
    ["remote-recovery/src/remote.tsx", "../vault/src/page/vault-client.ts", "by its name, @relicario/vault"],
    ["remote-secrets/src/home/HomePage.tsx", "@relicario/vault", "belongs to remote-recovery: ask the portal"],
    ["remote-recovery/src/recover/frame.ts", "age-encryption", "ask the vault"],
    [
      "host/src/frame/Frame.tsx",
      "@relicario/remote-secrets",
      "host may not import @relicario/remote-secrets: remotes are loaded at run time",
    ],
    ["tooling/src/checks/surface.ts", "@relicario/shared/ui", "the others need a browser"],
    ["host/src/frame/Frame.tsx", "../tours/TourHost.tsx", "frame is not above what you import"],
    ["host/src/session/tabs.ts", "../routes/routes.ts", "session is not above what you import"],
    ["remote-recovery/vault/src/seal/book.ts", "../device/device.ts", "seal is not above what you import"],
    ["remote-recovery/vault/src/keyring/publish.ts", "../openers/unlock.ts", "keyring is not above what you import"],
    ["remote-recovery/vault/src/page/client.ts", "../vault.worker.ts", "page is not above what you import"],
    ["tooling/src/keys/lock.ts", "../start/ports.ts", "keys is not above what you import"],
    ["host/src/context/prefetch.ts", "../App.tsx", "take it as an argument"],
    [
      "remote-recovery/src/openers/WordsField.tsx",
      "../picture/PictureForm.tsx",
      "move what both need to a folder below",
    ],
  ])("forbids %s to import %s", (file, specifier, reason) => {
    expect(lintMessages(file, `import "${specifier}";`)).toEqual([expect.stringContaining(reason)]);
  });

  it.each([
    'import type { Pool } from "pg";',
    'export { Pool } from "pg";',
    'export type { Pool } from "pg";',
    'export * from "pg";',
    'const { Pool } = await import("pg");',
    'const { Pool } = require("pg");',
    'type Pool = import("pg").Pool;',
  ])("checks %s", (source) => {
    expect(lintMessages("api/src/secrets/queries.ts", source)).toEqual([
      expect.stringContaining("pg belongs in api/src/db"),
    ]);
  });
});
