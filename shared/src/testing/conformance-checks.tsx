import { act, cleanup, screen } from "@testing-library/react";

import { CONTRACT_VERSION, languages, type RemoteManifest, type RemoteModule } from "../contract/index.ts";
import { PortalError } from "../errors/index.ts";
import { expectAccessible } from "./accessible.ts";
import { createFakeHttpClient, type FakeHttpClient } from "./fake-http.ts";
import { createFakeVault, type FakeVault, type FakeVaultSettings } from "./fake-vault.tsx";
import { findGrowth, watchLeaks } from "./leaks.ts";
import { renderApp, type RenderedApp } from "./renderApp.tsx";
import { readTexts, listTextKeys } from "./texts-from-disk.ts";

export interface ConformanceSettings {
  /** What the account holds while screens are looked at. */
  readonly vault?: FakeVaultSettings;
  /** Answers of the service. */
  readonly http?: () => FakeHttpClient;
  /**
   * Real addresses for patterns with parameters, such as `"/edit-secret/:secretId":
   * "/edit-secret/0189…"`.
   */
  readonly addresses?: Readonly<Record<string, string>>;
  /**
   * Folder of the remote's texts, `<language>/<namespace>.json`: of a release. Those of the package
   * unless told otherwise.
   */
  readonly locales?: string;
  /** `brief` for a quick first run, where another test runs the kit whole. */
  readonly extent?: "whole" | "brief";
}

/**
 * One test of the kit. It fails by throwing; what it drew stays for whoever cleans up after tests.
 */
export interface Check {
  readonly name: string;
  readonly run: () => void | Promise<void>;
}

/** How much of the kit one screen runs. */
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
/** One look for each screen, in turn, and just enough times to see growth. */
export const createBriefExtent = (index: number): CheckExtent => ({
  appearances: wholeExtent.appearances.slice(index % 2).slice(0, 1),
  mountCount: 3,
});

const sampleId = "01890a5d-ac96-7000-8000-000000000001";

/** That manifest, code and texts fit each other. */
export function createManifestChecks(
  manifest: RemoteManifest,
  remote: RemoteModule,
  { locales }: ConformanceSettings,
): Check[] {
  return [
    {
      name: "was built for this contract, and has code for each route of its manifest",
      run: () => {
        expect(manifest.contract.split(".")[0]).toBe(`^${CONTRACT_VERSION.split(".")[0] ?? ""}`);
        expect(Object.keys(remote.routes).sort()).toEqual(manifest.routes.map(({ path }) => path).sort());
      },
    },
    ...manifest.routes.flatMap(({ titleKey }) =>
      languages.map((language) => ({
        name: `calls a screen by ${titleKey}, which says something by itself in ${language}`,
        run: () => {
          const [namespace = "", key = ""] = titleKey.split(":");
          const title = getText(readTexts(language, namespace, locales), key);
          expect(title).toEqual(expect.any(String));
          expect(String(title).replaceAll("{{product}}", "")).not.toContain("{{");
        },
      })),
    ),
    ...manifest.namespaces.map((namespace) => ({
      name: `${namespace} has the same keys in both languages`,
      run: () => {
        const [first, ...others] = languages.map((language) => readTexts(language, namespace, locales));
        expect(first).not.toBeNull();
        for (const other of others) expect(listTextKeys(other ?? {})).toEqual(listTextKeys(first ?? {}));
      },
    })),
  ];
}

/** Where screens are looked at: each route once. */
export function listAddresses(manifest: RemoteManifest, { addresses }: ConformanceSettings): string[] {
  return manifest.routes.map(({ path }) => addresses?.[path] ?? buildAddress(path));
}

/** What the screen at one address promises. */
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
      locales: settings.locales,
      path,
      routes: remote.routes,
      vault: vault ?? createFakeVault(settings.vault),
      http: http ?? settings.http?.() ?? createFakeHttpClient(),
    });
    await flushPromises();
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
      name: "survives a vault that cannot be had",
      run: async () => {
        const vault = Promise.reject<FakeVault>(new PortalError("vault_unavailable"));
        vault.catch(() => undefined); // a screen that does not need it never asks
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
      name: `leaves nothing behind after ${String(mountCount)} times`,
      run: async () => {
        const leaks = await findLeaks((vault) => renderScreen({ vault }), settings, mountCount);
        if (leaks.length > 0) throw new Error(`${String(mountCount)} times left more than once:\n${leaks.join("\n")}`);
      },
    },
  ];
}

/** Draws the screen and takes it away. @returns what grew, in a line for each kind. */
async function findLeaks(
  renderScreen: (vault: FakeVault) => Promise<RenderedApp>,
  settings: ConformanceSettings,
  mountCount: number,
): Promise<string[]> {
  const vault = createFakeVault(settings.vault);
  const leaks = new Set<string>();
  const leakWatch = watchLeaks();
  const mountOnce = async () => {
    const app = await renderScreen(vault);
    app.unmount();
    cleanup();
    await app.queryClient.cancelQueries(); // one that is on its way would set its timer after all were cleared
    await flushPromises(1);
    app.queryClient.clear();
    if (app.record.lockListeners.size > 0) leaks.add("a listener of portal.onLock");
    if (vault.listeners() > 0) leaks.add("a listener of the vault");
    leakWatch.handleUnmount();
  };
  try {
    await mountOnce(); // libraries attach some listeners once, at first use
    const baseline = leakWatch.listHeld();
    for (let round = 0; round < mountCount; round++) await mountOnce();
    return [...leaks, ...findGrowth(baseline, leakWatch.listHeld())];
  } finally {
    leakWatch.stop();
  }
}

function expectScreen(app: RenderedApp, path: string): void {
  // The text that the router shows for a screen that threw.
  expect(screen.queryByText("Unexpected Application Error!")).not.toBeInTheDocument();
  if (app.location() !== path) return; // the screen redirected
  expect(screen.queryByText(/^no screen at /)).not.toBeInTheDocument();
  expect(screen.getAllByRole("heading", { level: 1 }).length).toBeGreaterThan(0);
}

/** Waits until promises have settled and their results are rendered. */
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
