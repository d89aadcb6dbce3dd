import type { Deployment, Language, RemoteManifest, RemoteName, ThemeName } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import {
  createFakeHttpClient,
  createTestQueryClient,
  readManifests,
  type FakeHttpClient,
} from "@relicario/shared/testing";
import { createInstance } from "i18next";
import { createStore } from "zustand/vanilla";

import type { StoredAccount } from "../device/accounts.ts";
import type { VerifiedDeployment, VerifiedRemote } from "../deployment/verify.ts";
import type { WatchState } from "../deployment/watch.ts";
import { createFeatureFlags } from "../settings/feature-flags.ts";
import { leaveOut } from "../safe-start/left-out.ts";
import { createDialogQueue } from "../popups/dialog-queue.ts";
import type { Host } from "../context/host-context.ts";
import { buildPortalRoutes } from "../routes/routes.ts";
import type { SessionState } from "../session/session-state.ts";
import type { ExchangeState } from "../session/token-exchange.ts";
import type { VendorAppearance } from "../settings/vendor-appearance.ts";
import { ScreenHistory } from "../telemetry/vitals.ts";

export const alba = { issuer: "i", subject: "s", name: "alba" };
export const claims = {
  sub: "01890a5d-ac96-7000-8000-000000000001",
  iss: "http://localhost:3000/api",
  aud: "relicario-portal",
  vid: "relicario",
  sid: "s",
  iat: 1,
  exp: 2,
};

const signedInState: SessionState = { status: "authenticated", user: alba };

/** A store that screens read and a test sets. */
interface TestStore<T> {
  readonly getState: () => T;
  readonly set: (next: T) => void;
  readonly subscribe: (listener: () => void) => () => void;
}

function createTestStore<T>(initial: T): TestStore<T> {
  const store = createStore(() => initial);
  return {
    getState: store.getState,
    set: (next) => {
      store.setState(next, true);
    },
    subscribe: store.subscribe,
  };
}

export interface FakeHostSettings {
  readonly state?: SessionState;
  readonly exchange?: ExchangeState;
  readonly theme?: ThemeName;
  readonly http?: FakeHttpClient;
  readonly deployment?: Partial<Deployment>;
  readonly refusedRemotes?: readonly RemoteName[];
  /** Remotes that the person left out (safe-start/left-out.ts). */
  readonly leftOutRemotes?: readonly RemoteName[];
  /** Remotes without a validly signed record. Only their names are known. */
  readonly unsignedRemotes?: readonly RemoteName[];
  /** Changes to the remotes' manifests. */
  readonly manifests?: Readonly<Record<RemoteName, Partial<RemoteManifest>>>;
  readonly appearance?: VendorAppearance;
  readonly wrongClock?: VerifiedDeployment["wrongClock"];
  readonly hasEndedElsewhere?: boolean;
  readonly storedAccounts?: readonly StoredAccount[];
}

export interface FakeHost {
  readonly host: Host;
  readonly http: FakeHttpClient;
  readonly session: TestStore<SessionState>;
  readonly deploymentWatch: TestStore<WatchState>;
  readonly isDown: TestStore<boolean>;
  readonly vendorAppearance: TestStore<VendorAppearance>;
  readonly calls: {
    readonly signIn: jest.Mock<Promise<void>, Parameters<Host["session"]["signIn"]>>;
    readonly signInAgain: jest.Mock<Promise<{ authTime: number }>, []>;
    readonly signOut: jest.Mock<Promise<void>, []>;
    readonly forgetDevice: jest.Mock<Promise<void>, []>;
    readonly renew: jest.Mock<Promise<never>, []>;
    readonly check: jest.Mock<Promise<void>, []>;
    readonly toggleTheme: jest.Mock;
    readonly changeLanguage: jest.Mock<Promise<void>, [Language]>;
    readonly load: jest.Mock<Promise<never>, [RemoteName]>;
    readonly prefetch: jest.Mock;
  };
}

/** A host in memory, without network calls or remotes. */
export function createFakeHost(settings: FakeHostSettings = {}): FakeHost {
  const http = settings.http ?? createFakeHttpClient();
  const session = createTestStore(settings.state ?? signedInState);
  const exchange = createTestStore<ExchangeState>(
    settings.exchange ?? { status: "ready", sessionToken: { token: "t", claims } },
  );
  const deploymentWatch = createTestStore<WatchState>({
    updateAvailable: false,
    disabledRemotes: new Set(),
    expired: false,
  });
  const isDown = createTestStore(false);
  const vendorAppearance = createTestStore<VendorAppearance>(
    settings.appearance ?? { layout: "standard", name: "Relicario" },
  );
  const verified = leaveOut(createVerifiedDeployment(settings), settings.leftOutRemotes ?? []);
  const calls: FakeHost["calls"] = {
    signIn: jest.fn<Promise<void>, Parameters<Host["session"]["signIn"]>>(() => Promise.resolve()),
    signInAgain: jest.fn(() => Promise.resolve({ authTime: 0 })),
    signOut: jest.fn(() => new Promise<void>(() => undefined)),
    forgetDevice: jest.fn(() => new Promise<void>(() => undefined)),
    renew: jest.fn(() => Promise.reject(new PortalError("offline"))),
    check: jest.fn(() => Promise.resolve()),
    toggleTheme: jest.fn(),
    changeLanguage: jest.fn((_language: Language) => Promise.resolve()),
    load: jest.fn((_name: RemoteName) => Promise.reject(new PortalError("remote_unreachable"))),
    prefetch: jest.fn(),
  };
  const members: Partial<Host> = {
    verifiedDeployment: verified,
    routes: buildPortalRoutes(verified.remotes, () => undefined),
    deploymentWatch: {
      getState: deploymentWatch.getState,
      subscribe: deploymentWatch.subscribe,
      check: calls.check,
      start: () => () => undefined,
    },
    session: {
      getState: session.getState,
      subscribe: session.subscribe,
      signIn: calls.signIn,
      signInAgain: calls.signInAgain,
      openSignIn: () => Promise.resolve(""),
      signOut: calls.signOut,
      forgetDevice: calls.forgetDevice,
      hasEndedElsewhere: () => settings.hasEndedElsewhere === true,
      exchange: {
        getState: exchange.getState,
        subscribe: exchange.subscribe,
        renew: calls.renew,
        getToken: () => Promise.resolve("t"),
        setAccessToken: () => undefined,
        clear: () => undefined,
      },
      publicHttp: http,
      onLock: () => () => undefined,
    } as Partial<Host["session"]> as Host["session"],
    http,
    reachability: {
      isDown: isDown.getState,
      subscribe: isDown.subscribe,
      report: () => undefined,
      observe: (observedHttp) => observedHttp,
    },
    loader: {
      load: calls.load,
      loadWithoutTexts: calls.load,
      loadPage: () => Promise.reject(new PortalError("unknown")),
      isImporting: () => false,
      prefetch: calls.prefetch,
    },
    pageGuard: { start: () => undefined, restore: () => undefined },
    vaultSource: {
      get: () => Promise.reject(new PortalError("vault_unavailable")),
      onLocked: () => () => undefined,
      lock: () => Promise.resolve(),
      drop: () => undefined,
      onDropped: () => () => undefined,
      stop: () => Promise.resolve(),
    },
    visitorSource: {
      get: () => Promise.reject(new PortalError("vault_unavailable")),
      setActivePath: () => undefined,
      close: () => undefined,
    },
    vendor: { getState: vendorAppearance.getState, subscribe: vendorAppearance.subscribe, refresh: () => undefined },
    flags: createFeatureFlags(verified.deployment, sessionStorage),
    queryClient: createTestQueryClient(),
    i18n: createKeyTexts(),
    theme: { getState: () => settings.theme ?? "light", toggle: calls.toggleTheme, subscribe: () => () => undefined },
    confirmQueue: createDialogQueue(),
    serviceDialogs: createDialogQueue(),
    listStoredAccounts: () => Promise.resolve(settings.storedAccounts ?? []),
    screenHistory: new ScreenHistory(),
    report: () => undefined,
    changeLanguage: calls.changeLanguage,
  };
  return {
    host: members as Host,
    http,
    session,
    deploymentWatch,
    isDown,
    vendorAppearance,
    calls,
  };
}

function createVerifiedDeployment({
  deployment = {},
  refusedRemotes = [],
  unsignedRemotes = [],
  manifests = {},
  wrongClock = null,
}: FakeHostSettings): VerifiedDeployment {
  const changedManifests = [...readManifests()].map(
    ([name, manifest]) => [name, { ...manifest, ...manifests[name] }] as const,
  );
  const remotes = new Map<RemoteName, VerifiedRemote>(
    changedManifests.map(([name, manifest]) => [
      name,
      refusedRemotes.includes(name) || unsignedRemotes.includes(name)
        ? { status: "refused", code: "remote_refused", manifest: unsignedRemotes.includes(name) ? null : manifest }
        : {
            status: "verified",
            record: {
              v: 1,
              version: "0.3.1",
              release: `${name}-0.3.1-0123456789ab`,
              manifest,
              files: {},
              federation: { id: name, name },
            },
          },
    ]),
  );
  const fullDeployment: Partial<Deployment> = {
    vendor_id: "relicario",
    sequence: 7,
    environment: "test",
    app_version: "0.3.1",
    branding: { product_name: "Relicario", layout: "standard", colors: { light: {}, dark: {} } },
    identity: { authority: "https://id.example/realms/relicario", client_id: "relicario-portal", scope: "openid" },
    features: {},
    messages: [],
    ...deployment,
  };
  return { deployment: fullDeployment as Deployment, remotes, refusals: [], override: null, wrongClock };
}

/** Shows keys in place of texts. */
function createKeyTexts(): Host["i18n"] {
  const i18n = createInstance();
  void i18n.init({ lng: "en", resources: {}, initAsync: false });
  return i18n;
}

/** Mocks the window's size; jsdom has no layout. */
export function mockWindow({ mobile }: { readonly mobile: boolean }): void {
  window.matchMedia = (query: string) =>
    ({
      matches: mobile && query.includes("639.98"),
      addEventListener: () => undefined,
      removeEventListener: () => undefined,
    }) as unknown as MediaQueryList;
  window.scrollTo = jest.fn() as typeof window.scrollTo;
  Object.defineProperty(performance, "getEntriesByType", { value: () => [], configurable: true });
}
