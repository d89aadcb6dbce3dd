import { objectionTo } from "./import-boundaries.ts";

describe("objectionTo", () => {
  it.each([
    ["remote-secrets/src/home/HomePage.tsx", "@relicario/shared/ui"],
    ["remote-secrets/src/home/HomePage.tsx", "../data/secrets.ts"],
    ["host/src/session/provider.ts", "oidc-client-ts"],
    ["remote-recovery/vault/src/seal/age.ts", "age-encryption"],
    ["remote-recovery/vault/src/seal/book.ts", "@relicario/engine"],
    ["remote-recovery/vault/src/seal/book.ts", "../device/device.ts"],
    ["remote-recovery/src/remote.tsx", "@relicario/vault"],
    ["api/src/identity/passwords.ts", "hash-wasm"],
    ["api/src/secrets/routes.ts", "@relicario/shared/api"],
    ["api/src/secrets/routes.test.ts", "@relicario/tooling/database"],
    ["host/src/session/x.test.ts", "jose"],
    ["remote-sharing/webpack.config.ts", "@relicario/shared/webpack"],
    ["remote-recovery/engine/webpack/workers.ts", "@relicario/shared/webpack"],
    ["tooling/src/checks/surface.ts", "@relicario/shared/webpack"],
    ["remote-secrets/src/home/HomePage.test.tsx", "@relicario/shared/testing"],
    ["e2e/specs/sign-in.spec.ts", "@relicario/tooling/portal"],
    ["eslint.config.mjs", "./tooling/src/lint/import-boundaries.ts"],
  ])("lets %s import %s", (file, specifier) => {
    expect(objectionTo(file, specifier)).toBeNull();
  });

  it.each([
    ["remote-sharing/src/links/LinksPage.tsx", "@relicario/remote-secrets", "ask the portal for the service, or link to a route"],
    ["remote-sharing/src/links/LinksPage.tsx", "../../../remote-secrets/src/data/secrets.ts", "ask the portal for the service"],
    ["host/src/App.tsx", "@relicario/remote-secrets/remote", "loaded at run time from the signed deployment document"],
    ["shared/src/ui/Card.tsx", "@relicario/host", "everything else is built on it"],
    ["shared/src/ui/Card.tsx", "@relicario/shared/errors", "makes cycles"],
    ["remote-secrets/src/home/HomePage.tsx", "../../../shared/src/ui/Card.tsx", "one of its doors"],
    ["remote-secrets/src/home/HomePage.tsx", "@relicario/api", "schemas of shared/api"],
    ["remote-secrets/src/home/HomePage.tsx", "@relicario/host/session", "usePortal()"],
    ["remote-secrets/src/home/HomePage.tsx", "@relicario/shared/testing", "Test doubles stay out of the product"],
    ["remote-secrets/src/home/HomePage.tsx", "@relicario/shared/webpack", "no part of the product"],
    ["remote-sharing/webpack.config.ts", "@relicario/tooling/database", "may not import tooling"],
    ["api/src/secrets/routes.ts", "@relicario/shared/ui", "the others need a browser"],
    ["api/src/secrets/routes.ts", "@relicario/tooling/database", "api may not import tooling"],
    ["host/src/frame/Frame.tsx", "oidc-client-ts", "sign-in has one owner"],
    ["remote-secrets/src/edit/edit.ts", "age-encryption/webauthn", "ask the vault"],
    ["api/src/secrets/queries.ts", "pg", "api/src/db"],
    ["host/src/remotes/load.ts", "jose", "host/src/deployment"],
    ["remote-recovery/engine/src/engine.ts", "@relicario/vault", "it knows nothing of keys"],
    ["remote-recovery/vault/src/vault.ts", "../../src/remote.tsx", "vault may not import remote-recovery"],
    ["remote-recovery/src/remote.tsx", "../vault/src/create-vault.ts", "by its name, @relicario/vault"],
    ["remote-secrets/src/home/HomePage.tsx", "@relicario/vault", "belongs to remote-recovery: ask the portal"],
    ["remote-recovery/src/recover/frame.ts", "age-encryption", "ask the vault"],
  ])("objects to %s importing %s", (file, specifier, reason) => {
    expect(objectionTo(file, specifier)).toContain(reason);
  });
});
