import { act, cleanup, screen } from "@testing-library/react";

import { CONTRACT_VERSION, languages, RemoteManifest, type RemoteModule } from "../contract/index.ts";
import { PortalError } from "../errors/index.ts";
import { expectAccessible } from "./accessible.ts";
import { createFakeHttp, type FakeHttp } from "./fake-http.ts";
import { createFakeVault, type FakeVault, type FakeVaultSettings } from "./fake-vault.tsx";
import { watchLeaks } from "./leaks.ts";
import { renderApp, type RenderedApp } from "./renderApp.tsx";
import { readTexts, textKeys } from "./texts-from-disk.ts";

export interface ConformanceSettings {
  /** What the account holds while screens are looked at. */
  readonly vault?: FakeVaultSettings;
  /** Answers of the service. */
  readonly http?: () => FakeHttp;
  /** Real addresses for patterns with parameters, such as `"/edit-secret/:secretId": "/edit-secret/0189…"`. */
  readonly addresses?: Readonly<Record<string, string>>;
  /** Folder of the remote's texts, `<language>/<namespace>.json`: of a release. Those of the package unless told otherwise. */
  readonly locales?: string;
}

const mounts = 20;
const sampleId = "01890a5d-ac96-7000-8000-000000000001";
const timeLimitMs = 120_000;

/**
 * What every remote promises, as one suite for its own tests: its manifest and its code fit each other, it mounts and unmounts without leaving anything behind,
 * speaks both languages in both themes, is accessible, and survives a vault that is missing and a service that fails.
 *
 * @param manifestJson the remote's `manifest.json`
 */
export function conformance(manifestJson: unknown, remote: RemoteModule, settings: ConformanceSettings = {}): void {
  const manifest = RemoteManifest.parse(manifestJson);
  const addresses = manifest.routes.map(({ path }) => settings.addresses?.[path] ?? addressOf(path));

  const show = async (path: string, { vault, http, ...look }: { vault?: FakeVault | Promise<FakeVault>; http?: FakeHttp; language?: "en" | "es"; theme?: "light" | "dark" } = {}) => {
    const app = await renderApp(<p>no screen at {path}</p>, {
      ...look,
      locales: settings.locales,
      path,
      routes: remote.routes,
      vault: vault ?? createFakeVault(settings.vault),
      http: http ?? settings.http?.() ?? createFakeHttp(),
    });
    await settle();
    return app;
  };

  describe(`${manifest.name} conforms to the contract`, () => {
    it("was built for this contract, and has code for each route of its manifest", () => {
      expect(manifest.contract.split(".")[0]).toBe(`^${CONTRACT_VERSION.split(".")[0] ?? ""}`);
      expect(Object.keys(remote.routes).sort()).toEqual(manifest.routes.map(({ path }) => path).sort());
    });

    it.each(manifest.routes.flatMap(({ titleKey }) => languages.map((language) => [titleKey, language] as const)))("calls a screen by %s, which says something by itself in %s", (titleKey, language) => {
      const [namespace = "", key = ""] = titleKey.split(":");
      const title = textOf(readTexts(language, namespace, settings.locales), key);
      expect(title).toEqual(expect.any(String));
      expect(String(title).replaceAll("{{product}}", "")).not.toContain("{{");
    });

    it.each(manifest.namespaces)("%s has the same keys in both languages", (namespace) => {
      const [first, ...others] = languages.map((language) => readTexts(language, namespace, settings.locales));
      expect(first).not.toBeNull();
      for (const other of others) expect(textKeys(other ?? {})).toEqual(textKeys(first ?? {}));
    });

    describe.each(addresses)("at %s", (path) => {
      it.each([["en", "light"], ["es", "dark"]] as const)(
        "shows a screen that is accessible (%s, %s)",
        async (language, theme) => {
          expectAScreen(await show(path, { language, theme }), path);
          await expectAccessible();
        },
        timeLimitMs,
      );

      it(
        "survives a vault that cannot be had",
        async () => {
          const vault = Promise.reject<FakeVault>(new PortalError("vault_unavailable"));
          vault.catch(() => undefined); // a screen that does not need it never asks
          expectAScreen(await show(path, { vault }), path);
          await expectAccessible();
        },
        timeLimitMs,
      );

      it(
        "survives a service that is down",
        async () => {
          const http = createFakeHttp();
          http.failWith("service_unavailable");
          const vault = createFakeVault(settings.vault);
          for (const member of ["refresh", "list", "images"] as const) vault.failWith(member, "service_unavailable");
          expectAScreen(await show(path, { http, vault }), path);
          await expectAccessible();
        },
        timeLimitMs,
      );

      it(
        `leaves nothing behind after ${String(mounts)} times`,
        async () => {
          const vault = createFakeVault(settings.vault);
          const once = async () => {
            const app = await show(path, { vault });
            app.unmount();
            cleanup();
            app.queryClient.clear();
            expect(app.record.lockListeners.size).toBe(0);
            expect(vault.listeners()).toBe(0);
          };
          const watch = watchLeaks();
          await once(); // libraries attach some listeners once, at first use
          const before = watch.count();
          for (let count = 0; count < mounts; count++) await once();
          const after = watch.count();
          watch.stop();
          expect(after).toEqual(before);
        },
        timeLimitMs,
      );
    });
  });
}

function expectAScreen(app: RenderedApp, path: string): void {
  // The text that the router shows for a screen that threw.
  expect(screen.queryByText("Unexpected Application Error!")).not.toBeInTheDocument();
  if (app.location() !== path) return; // the screen redirected
  expect(screen.queryByText(/^no screen at /)).not.toBeInTheDocument();
  expect(screen.getAllByRole("heading", { level: 1 }).length).toBeGreaterThan(0);
}

/** Waits until promises have settled and their results are rendered. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) {
    await act(
      () =>
        new Promise((resolve) => {
          setTimeout(resolve, 0);
        }),
    );
  }
}

function textOf(texts: unknown, key: string): unknown {
  return key.split(".").reduce((at, name) => (typeof at === "object" && at !== null ? (at as Readonly<Record<string, unknown>>)[name] : undefined), texts);
}

function addressOf(pattern: string): string {
  return pattern.replace(/:[a-zA-Z]+\??/g, sampleId).replace(/\/\*$/, "");
}
