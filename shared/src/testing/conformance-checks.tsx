import { act, cleanup, screen } from "@testing-library/react";

import { CONTRACT_VERSION, languages, type RemoteManifest, type RemoteModule } from "../contract/index.ts";
import { PortalError } from "../errors/index.ts";
import { expectAccessible } from "./accessible.ts";
import { createFakeHttpClient, type FakeHttpClient } from "./fake-http-client.ts";
import { createFakeVault, type FakeVault, type FakeVaultSettings } from "./fake-vault.tsx";
import { findGrowth, watchLeaks } from "./leaks.ts";
import { watchPageAttributes } from "./leaks/page-attributes.ts";
import { renderApp, type RenderedApp } from "./renderApp.tsx";
import { readTexts, listTextKeys } from "./texts-from-disk.ts";

export interface ConformanceSettings {
  /** Contents of the account during the checks. */
  readonly vault?: FakeVaultSettings;
  /** Creates the fake service and its responses. */
  readonly http?: () => FakeHttpClient;
  /**
   * Addresses for path patterns with parameters, such as `"/edit-secret/:secretId":
   * "/edit-secret/0189…"`.
   */
  readonly addresses?: Readonly<Record<string, string>>;
  /**
   * Folder of a release's texts, `<language>/<namespace>.json`; by default the folder of the
   * package.
   */
  readonly localesFolder?: string;
  /** `brief` for a quick first run, if another test runs all checks. */
  readonly extent?: "whole" | "brief";
}

/** A check of the kit. `run` throws to fail. The test removes what the check rendered. */
export interface Check {
  readonly name: string;
  readonly run: () => void | Promise<void>;
}

/** Appearances in which a screen is checked, and number of times that it is mounted. */
export interface CheckExtent {
  readonly appearances: readonly (readonly ["en" | "es", "light" | "dark"])[];
  readonly mountCount: number;
}

export const wholeExtent: CheckExtent = {
  appearances: [
    ["en", "light"],
    ["es", "dark"],
  ],
  mountCount: 20,
};
/**
 * One appearance per screen, which alternates, and only as many mounts as growth needs to be
 * detected.
 */
export const createBriefExtent = (index: number): CheckExtent => ({
  appearances: wholeExtent.appearances.slice(index % 2).slice(0, 1),
  mountCount: 3,
});

const sampleId = "01890a5d-ac96-7000-8000-000000000001";

export function createManifestChecks(
  manifest: RemoteManifest,
  remote: RemoteModule,
  { localesFolder }: ConformanceSettings,
): Check[] {
  return [
    {
      name: "supports this contract, and has code for exactly the routes of its manifest",
      run: () => {
        expect(manifest.contract.split(".")[0]).toBe(`^${CONTRACT_VERSION.split(".")[0] ?? ""}`);
        expect(Object.keys(remote.routes).sort()).toEqual(manifest.routes.map(({ path }) => path).sort());
      },
    },
    ...manifest.routes.flatMap(({ titleKey }) =>
      languages.map((language) => ({
        name: `has the title ${titleKey} without parameters in ${language}`,
        run: () => {
          const [namespace = "", key = ""] = titleKey.split(":");
          const title = getText(readTexts(language, namespace, localesFolder), key);
          expect(title).toEqual(expect.any(String));
          expect(String(title).replaceAll("{{product}}", "")).not.toContain("{{");
        },
      })),
    ),
    ...manifest.namespaces.map((namespace) => ({
      name: `${namespace} has the same keys in both languages`,
      run: () => {
        const [firstTexts, ...otherTexts] = languages.map((language) => readTexts(language, namespace, localesFolder));
        expect(firstTexts).not.toBeNull();
        for (const texts of otherTexts) expect(listTextKeys(texts ?? {})).toEqual(listTextKeys(firstTexts ?? {}));
      },
    })),
  ];
}

/** Returns one address per route. */
export function listAddresses(manifest: RemoteManifest, { addresses }: ConformanceSettings): string[] {
  return manifest.routes.map(({ path }) => addresses?.[path] ?? buildAddress(path));
}

export function createScreenChecks(
  path: string,
  remote: RemoteModule,
  settings: ConformanceSettings,
  { appearances, mountCount }: CheckExtent = wholeExtent,
): Check[] {
  const renderScreen = async ({
    vault,
    http,
    ...appearance
  }: {
    vault?: FakeVault | Promise<FakeVault>;
    http?: FakeHttpClient;
    language?: "en" | "es";
    theme?: "light" | "dark";
  } = {}) => {
    const app = await renderApp(<p>no screen at {path}</p>, {
      ...appearance,
      localesFolder: settings.localesFolder,
      path,
      routes: remote.routes,
      vault: vault ?? createFakeVault(settings.vault),
      http: http ?? settings.http?.() ?? createFakeHttpClient(),
    });
    await flushPromises();
    expectNothingThrown(app, path);
    return app;
  };

  return [
    ...appearances.map(([language, theme]) => ({
      name: `shows a screen that is accessible (${language}, ${theme})`,
      run: async () => {
        expectScreen(await renderScreen({ language, theme }), path);
        await expectAccessible();
      },
    })),
    {
      name: "survives a vault that fails to load",
      run: async () => {
        const vault = Promise.reject<FakeVault>(new PortalError("vault_unavailable"));
        vault.catch(() => undefined); // avoids an unhandled rejection, because some screens never read the vault
        expectScreen(await renderScreen({ vault }), path);
        await expectAccessible();
      },
    },
    {
      name: "survives a service that is down",
      run: async () => {
        const http = createFakeHttpClient();
        http.failWith("service_unavailable");
        const vault = createFakeVault(settings.vault);
        for (const member of ["refresh", "list", "listImages"] as const) vault.failWith(member, "service_unavailable");
        expectScreen(await renderScreen({ http, vault }), path);
        await expectAccessible();
      },
    },
    {
      name: `leaves nothing behind after ${String(mountCount)} mounts`,
      run: async () => {
        const leaks = await findLeaks((vault) => renderScreen({ vault }), settings, mountCount);
        if (leaks.length > 0)
          throw new Error(`${String(mountCount)} mounts left behind (release it on unmount):\n${leaks.join("\n")}`);
      },
    },
  ];
}

/**
 * Mounts and unmounts the screen repeatedly.
 *
 * @returns a line per kind of resource whose number has grown
 */
async function findLeaks(
  renderScreen: (vault: FakeVault) => Promise<RenderedApp>,
  settings: ConformanceSettings,
  mountCount: number,
): Promise<string[]> {
  const vault = createFakeVault(settings.vault);
  const leaks = new Set<string>();
  const leakWatch = watchLeaks();
  const listAttributeChanges = watchPageAttributes();
  const mountOnce = async () => {
    const app = await renderScreen(vault);
    app.unmount();
    cleanup();
    await app.queryClient.cancelQueries(); // a query that still runs would set its timer after the cache was cleared
    await flushPromises(1);
    app.queryClient.clear();
    if (app.record.lockListeners.size > 0) leaks.add("a listener of portal.onLock");
    if (vault.countListeners() > 0) leaks.add("a listener of the vault");
    leakWatch.handleUnmount();
  };
  try {
    await mountOnce(); // libraries attach some listeners only once, on first use
    const baseline = leakWatch.listHeldResources();
    for (let round = 0; round < mountCount; round++) await mountOnce();
    return [...leaks, ...listAttributeChanges(), ...findGrowth(baseline, leakWatch.listHeldResources())];
  } finally {
    leakWatch.stop();
  }
}

function expectNothingThrown({ screenErrors }: RenderedApp, path: string): void {
  const [cause] = screenErrors;
  if (screenErrors.length === 0) return;
  const description = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
  throw new Error(`The screen at ${path} threw:\n${description}`, { cause });
}

function expectScreen(app: RenderedApp, path: string): void {
  if (app.getLocation() !== path) return; // a screen that redirects is accepted
  expect(screen.queryByText(/^no screen at /)).not.toBeInTheDocument();
  expect(screen.getAllByRole("heading", { level: 1 }).length).toBeGreaterThan(0);
}

/** Waits until promises have settled and React has rendered the results. */
async function flushPromises(rounds = 5): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    await act(
      () =>
        new Promise((resolve) => {
          setTimeout(resolve, 0);
        }),
    );
  }
}

function getText(texts: unknown, key: string): unknown {
  return key
    .split(".")
    .reduce(
      (node, name) =>
        typeof node === "object" && node !== null ? (node as Readonly<Record<string, unknown>>)[name] : undefined,
      texts,
    );
}

function buildAddress(pattern: string): string {
  return pattern.replace(/:[a-zA-Z]+\??/g, sampleId).replace(/\/\*$/, "");
}
