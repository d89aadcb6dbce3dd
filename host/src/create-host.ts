import type {
  HttpClient,
  Language,
  PortalForServices,
  PortalForVisitors,
  RemoteName,
} from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { createI18n, loadTexts, getActiveLanguage, type Texts } from "@relicario/shared/i18n";
import type { QueryClient } from "@tanstack/react-query";
import { z } from "zod";

import { listStoredAccounts } from "./device/accounts.ts";
import { requirePinnedUserId } from "./device/pinned-user-id.ts";
import type { Sweeps } from "./device/sweeps.ts";
import { getIntegrity, getReleaseUrl } from "./deployment/integrity.ts";
import type { VerifiedDeployment } from "./deployment/verify.ts";
import { createDeploymentWatch } from "./deployment/watch.ts";
import { createFeatureFlags } from "./settings/feature-flags.ts";
import { createConfirmQueue } from "./popups/confirms.tsx";
import { clearToasts, showToast } from "./popups/Toasts.tsx";
import type { Host } from "./context/host-context.ts";
import { meQuery } from "./portal/use-portal-object.ts";
import { findRoute, buildPortalRoutes } from "./routes/routes.ts";
import { trackFailedScripts } from "./remotes/failed-scripts.ts";
import { loadModule, registerReleases } from "./remotes/federation.ts";
import { createRemoteLoader } from "./remotes/loader.ts";
import { createScopedHttpClient } from "./remotes/scoped-http.ts";
import { createVaultSource } from "./remotes/vault-source.ts";
import { createVisitorSource } from "./remotes/visitor-source.ts";
import { createReachability } from "./service/reachability.ts";
import { getUser } from "./session/machine.ts";
import { createSession, type Session } from "./session/session.ts";
import { takeLinkSecret } from "./session/link-secret.ts";
import { getClaims } from "./session/token-exchange.ts";
import { createLanguageChanger } from "./settings/language.ts";
import { createQueryClient, clearOpenedData } from "./settings/query-client.ts";
import { createTextFetcher } from "./settings/texts.ts";
import type { ThemeStore } from "./settings/theme.ts";
import { createVendorAppearanceStore } from "./settings/vendor.ts";
import { createTelemetry, type TelemetryConsent } from "./telemetry/telemetry.ts";
import { ScreenHistory, watchVitals } from "./telemetry/vitals.ts";
import { warn } from "./telemetry/warn.ts";

export interface HostSettings {
  readonly verified: VerifiedDeployment;
  /** Fetches and verifies the current deployment document. */
  readonly readDeployment: () => Promise<VerifiedDeployment>;
  /** What this device keeps. */
  readonly sweeps: Sweeps;
  readonly language: Language;
  readonly theme: ThemeStore;
  /** The host's own texts in that language. */
  readonly texts: Readonly<Record<string, Texts>>;
}

/**
 * Creates and connects everything that the host consists of. Does not look for a signed-in user
 * yet.
 */
export async function createHost({
  verified,
  readDeployment,
  sweeps,
  language,
  theme,
  texts,
}: HostSettings): Promise<Host> {
  const { deployment } = verified;
  const { origin } = window.location;
  const queryClient = createQueryClient();
  const i18n = await createI18n({
    language,
    product: deployment.branding.product_name,
    fetchTexts: createTextFetcher(verified, origin, window.fetch.bind(window)),
    bundled: { [language]: texts },
  });

  registerReleases(verified, origin);
  const failedScripts = trackFailedScripts({ page: window, fetch: window.fetch.bind(window), getIntegrity });
  const deploymentWatch = createDeploymentWatch({ pinned: verified, load: readDeployment, now: Date.now, log: warn });
  const report: Host["report"] = (name, phase, error) => {
    warn(`remote ${name}`, `${phase} ${error.code}`);
    if (phase !== "load") telemetry.recordLoad(name, phase, { code: error.code });
  };
  const routes = buildPortalRoutes(verified.remotes, warn);
  const findRelease = (name: RemoteName): string | null => {
    const remote = verified.remotes.get(name);
    return remote?.status === "verified" ? remote.record.release : (deployment.releases[name]?.stable ?? null);
  };
  const telemetry = createTelemetry({
    endpoint: `${deployment.api.base_url}/telemetry`,
    findRelease,
    getConsent: () => readConsent(session, queryClient, http),
    window,
    // https://w3c.github.io/gpc/
    privacyControl: "globalPrivacyControl" in navigator && navigator.globalPrivacyControl === true,
    fetch: window.fetch.bind(window),
  });
  const screenHistory = new ScreenHistory();
  let isWatchingVitals = false;
  const loader = createRemoteLoader({
    remotes: verified.remotes,
    isDisabled: (name) => deploymentWatch.getState().disabled.has(name),
    loadModule,
    refetchScripts: async (name) => {
      const remote = verified.remotes.get(name);
      if (remote?.status === "verified") await failedScripts.refetchScripts(getReleaseUrl(origin, remote.record));
    },
    loadTexts: (namespaces) => loadTexts(i18n, namespaces),
    onFailure: (name, error) => {
      report(name, "load", error);
    },
    onMeasured: (name, phase, outcome) => {
      telemetry.recordLoad(name, phase, outcome);
      if (isWatchingVitals || phase !== "page") return;
      isWatchingVitals = true;
      whenIdle(() => {
        watchVitals({
          findScreen: (time) => findScreen(screenHistory.findAt(time)),
          recordVital: telemetry.recordVital,
        }).catch((error: unknown) => {
          warn("vitals", error); // nothing but the measuring depends on it
        });
      });
    },
  });

  let hasNotifiedVendor = false;
  const onVendorIgnored = () => {
    vendorAppearance.refresh();
    if (!hasNotifiedVendor) showToast({ tone: "info", text: i18n.t("header:vendor_ignored_body") });
    hasNotifiedVendor = true;
  };
  const session = createSession({
    deployment,
    window,
    getLanguage: () => getActiveLanguage(i18n),
    clearCaches: () => {
      queryClient.clear();
      clearToasts();
    },
    onVendorIgnored,
    log: warn,
    channel: typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel("session"),
    sweeps,
    requirePinnedUserId,
  });
  const vendorAppearance = createVendorAppearanceStore({
    deployment,
    storage: window.sessionStorage,
    http: session.retrying.publicHttp,
    onUnknown: onVendorIgnored,
  });
  session.exchange.subscribe(vendorAppearance.refresh);

  const reachability = createReachability(() => session.retrying.publicHttp.request("GET", "/readyz", z.unknown()));
  const http = reachability.observe(session.http);
  const retryingHttp = reachability.observe(session.retrying.http);
  const vaultSource = createVaultSource({
    loadRecovery: () => loader.loadCode("recovery"),
    portal: () => createVaultPortal({ session, http: retryingHttp, verified }),
  });
  const visitorSource = createVisitorSource({
    loadRecovery: () => loader.loadCode("recovery"),
    portal: (pathname) =>
      createVisitorPortal(pathname, {
        session,
        http: retryingHttp,
        publicHttp: reachability.observe(session.retrying.publicHttp),
        verified,
      }),
  });
  session.onLock((reason) => vaultSource.lock(reason));
  session.onLock(visitorSource.close);
  // However the vault was locked: plaintext is removed everywhere, and what is on the screen is
  // loaded again.
  vaultSource.onLocked(() => {
    clearOpenedData(queryClient);
    clearToasts(); // they may name a secret
    void session.lock();
  });
  deploymentWatch.subscribe(() => {
    if (!deploymentWatch.getState().disabled.has("recovery")) return;
    void vaultSource.stop();
    visitorSource.close();
  });

  return {
    verified,
    routes,
    watch: deploymentWatch,
    session,
    http,
    reachability,
    loader,
    vault: vaultSource,
    visitor: visitorSource,
    vendor: vendorAppearance,
    flags: createFeatureFlags(deployment, window.sessionStorage),
    queryClient,
    i18n,
    theme,
    confirms: createConfirmQueue(),
    listStoredAccounts: async () => {
      const user = getUser(session.getState());
      return user === null ? [] : listStoredAccounts(user);
    },
    screens: screenHistory,
    report,
    changeLanguage: createLanguageChanger(i18n, window),
  };

  /** A screen by the pattern of its route; those of the host have its version. */
  function findScreen(pathname: string | null): { remote: string; release: string; route: string } | null {
    const route = pathname === null ? null : findRoute(routes, pathname);
    if (route === null || "redirect" in route) return null;
    if (!("remote" in route)) return { remote: "host", release: deployment.app_version, route: route.path };
    const release = findRelease(route.remote);
    return release === null ? null : { remote: route.remote, release, route: route.path };
  }
}

/** What somebody who is signed in wishes is known when the account was read, as the frame does. */
function readConsent(session: Session, queryClient: QueryClient, http: HttpClient): TelemetryConsent {
  const state = session.getState();
  if (state.status === "unauthenticated") return "visitor";
  const claims = getClaims(session.exchange.getState());
  const me = claims === null ? undefined : queryClient.getQueryData(meQuery(http, claims.sub).queryKey);
  return me === undefined ? "unknown" : me.telemetry ? "yes" : "no";
}

/** Safari has no `requestIdleCallback`. */
function whenIdle(callback: () => void): void {
  if ("requestIdleCallback" in window) window.requestIdleCallback(callback);
  else setTimeout(callback, 2_000);
}

/**
 * The portal as the vault sees it. Rejects with `login_required` or the error of the token exchange
 * while nobody is signed in.
 */
async function createVaultPortal({
  session,
  http,
  verified,
}: { readonly session: Session } & Pick<Host, "http" | "verified">): Promise<PortalForServices> {
  await session.exchange.getToken();
  const user = getUser(session.getState());
  const claims = getClaims(session.exchange.getState());
  if (user === null || claims === null) throw new PortalError("login_required");
  return {
    http: scopeToRecovery(http, verified),
    vendorId: claims.vid,
    account: {
      userId: claims.sub,
      issuer: user.issuer,
      subject: user.subject,
      ...(user.authTime === undefined ? {} : { authTime: user.authTime }),
    },
    signInAgain: session.signInAgain,
    takeLinkSecret: () => takeLinkSecret(sessionStorage, Date.now()),
  };
}

/**
 * The portal as the visitor of a page opened by a link sees it. A link for signed-in people is
 * opened with the session's token; any other one without, so that the service does not learn who
 * opens it. Rejects with the error of the token exchange.
 */
async function createVisitorPortal(
  pathname: string,
  {
    session,
    http,
    publicHttp,
    verified,
  }: { readonly session: Session; readonly publicHttp: HttpClient } & Pick<Host, "http" | "verified">,
): Promise<PortalForVisitors> {
  const isSignedIn = pathname.startsWith("/p-shared/") && getUser(session.getState()) !== null;
  if (isSignedIn) await session.exchange.getToken();
  return {
    http: scopeToRecovery(isSignedIn ? http : publicHttp, verified),
    vendorId: getClaims(session.exchange.getState())?.vid ?? verified.deployment.vendor_id,
    takeLinkSecret: () => takeLinkSecret(sessionStorage, Date.now()),
  };
}

/** Limited to the paths that recovery's signed release declares. */
function scopeToRecovery(http: HttpClient, { remotes }: VerifiedDeployment): HttpClient {
  const recovery = remotes.get("recovery");
  return createScopedHttpClient(http, recovery?.status === "verified" ? recovery.record.manifest.api_paths : []);
}
