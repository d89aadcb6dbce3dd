import {
  pageStorage,
  type Channel,
  type HttpClient,
  type Language,
  type PortalForServices,
  type PortalForVisitors,
  type PortalServiceMembers,
  type RemoteName,
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
import { createDeploymentWatch, type DeploymentWatch } from "./deployment/watch.ts";
import { createFeatureFlags } from "./settings/feature-flags.ts";
import type { ServiceDialogs } from "./popups/dialog-hosts.tsx";
import { createDialogQueue } from "./popups/dialog-queue.ts";
import { clearToasts, showToast } from "./popups/Toasts.tsx";
import type { Host } from "./context/host-context.ts";
import { meQuery } from "./portal/use-portal-object.ts";
import { findRoute, buildPortalRoutes } from "./routes/routes.ts";
import { trackFailedScripts } from "./remotes/failed-scripts.ts";
import { loadModule, registerReleases } from "./remotes/federation.ts";
import { createPageGuard } from "./remotes/page-guard.ts";
import { createRemoteLoader } from "./remotes/loader.ts";
import { createVaultSource } from "./remotes/vault-source.ts";
import { createVisitorSource } from "./remotes/visitor-source.ts";
import type { StartRecords } from "./safe-start/start-records.ts";
import { createReachability, type Reachability } from "./service/reachability.ts";
import { getUser } from "./session/session-state.ts";
import { createSession, type Session } from "./session/session.ts";
import { takeLinkSecret } from "./session/link-secret.ts";
import { getClaims } from "./session/token-exchange.ts";
import { createLanguageChanger } from "./settings/language.ts";
import { createQueryClient, clearOpenedData } from "./settings/query-client.ts";
import { createTextFetcher } from "./settings/texts.ts";
import type { ThemeStore } from "./settings/theme.ts";
import { createVendorAppearanceStore } from "./settings/vendor-appearance.ts";
import { watchRemoteErrors } from "./telemetry/remote-errors.ts";
import { createTelemetry, type TelemetryConsent } from "./telemetry/telemetry.ts";
import { ScreenHistory, watchVitals } from "./telemetry/vitals.ts";
import { warn } from "./telemetry/warn.ts";
import { createFrameStorage } from "./vault-frame/frame-storage.ts";
import type { VaultFrame } from "./vault-frame/vault-frame.ts";

export interface HostSettings {
  readonly verifiedDeployment: VerifiedDeployment;
  readonly startRecords: Pick<StartRecords, "recordLoad">;
  readonly readDeployment: () => Promise<VerifiedDeployment>;
  readonly vaultFrame: VaultFrame;
  readonly sweeps: Sweeps;
  readonly language: Language;
  readonly theme: ThemeStore;
  readonly texts: Readonly<Record<string, Texts>>;
}

/** Creates and connects the parts of the host. Does not look for a signed-in user yet. */
export async function createHost({
  verifiedDeployment,
  startRecords,
  readDeployment,
  vaultFrame,
  sweeps,
  language,
  theme,
  texts,
}: HostSettings): Promise<Host> {
  const { deployment } = verifiedDeployment;
  const { origin } = window.location;
  const queryClient = createQueryClient();
  const i18n = await createI18n({
    language,
    product: deployment.branding.product_name,
    fetchTexts: createTextFetcher(verifiedDeployment, origin, window.fetch.bind(window)),
    bundledTexts: { [language]: texts },
  });

  registerReleases(verifiedDeployment, origin);
  const failedScripts = trackFailedScripts({ page: window, fetch: window.fetch.bind(window), getIntegrity });
  const deploymentWatch = createDeploymentWatch({
    initialDeployment: verifiedDeployment,
    load: readDeployment,
    now: Date.now,
    log: warn,
  });
  const report: Host["report"] = (name, phase, error) => {
    warn(`remote ${name}`, `${phase} ${error.code}`);
    if (phase !== "load") telemetry.recordLoad(name, phase, { code: error.code });
  };
  const routes = buildPortalRoutes(verifiedDeployment.remotes, warn);
  const findRelease = (name: RemoteName): string | null => {
    const remote = verifiedDeployment.remotes.get(name);
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
  const runningRemotes = new Set<RemoteName>();
  watchRemoteErrors({
    page: window,
    origin,
    onError: (name, code) => {
      // While its entry runs, the loader reports the error.
      if (runningRemotes.has(name)) report(name, "run", new PortalError(code));
    },
  });
  const screenHistory = new ScreenHistory();
  let isWatchingVitals = false;
  const loader = createRemoteLoader({
    remotes: verifiedDeployment.remotes,
    isDisabled: (name) => deploymentWatch.getState().disabledRemotes.has(name),
    loadModule,
    refetchScripts: async (name) => {
      const remote = verifiedDeployment.remotes.get(name);
      return remote?.status === "verified" ? failedScripts.refetchScripts(getReleaseUrl(origin, remote.record)) : null;
    },
    loadTexts: (namespaces) => loadTexts(i18n, namespaces),
    onLoading: startRecords.recordLoad,
    onFailure: (name, error) => {
      report(name, "load", error);
    },
    onMeasured: (name, phase, outcome) => {
      telemetry.recordLoad(name, phase, outcome);
      if (outcome.code === undefined) runningRemotes.add(name);
      if (isWatchingVitals || phase !== "page") return;
      isWatchingVitals = true;
      whenIdle(() => {
        watchVitals({
          findScreen: (time) => findScreen(screenHistory.findAt(time)),
          recordVital: telemetry.recordVital,
        }).catch((error: unknown) => {
          warn("vitals", error); // only telemetry depends on this module
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
    channel: openChannel(),
    sweeps,
    requirePinnedUserId,
  });
  const vendorAppearance = createVendorAppearanceStore({
    deployment,
    storage: pageStorage.session,
    publicHttp: session.retryingClients.publicHttp,
    onUnknownVendor: onVendorIgnored,
  });
  session.exchange.subscribe(vendorAppearance.refresh);

  const reachability = createReachability(() =>
    session.retryingClients.publicHttp.request("GET", "/readyz", z.unknown()),
  );
  const http = reachability.observe(session.http);
  const openVaultChannel = async (): Promise<Channel> => {
    const channel = await vaultFrame.getChannel();
    channel.serve("portal", { ...createPortalService(session, reachability) });
    channel.onClose(vaultSource.drop);
    channel.onClose(visitorSource.close);
    await channel.call("frame", ["loadVault"]);
    return channel;
  };
  const portalDeps = { session, openVaultChannel, vaultOrigin: deployment.vault_origin };
  const serviceDialogs: ServiceDialogs = createDialogQueue();
  const vaultSource = createVaultSource({
    loadRecovery: () => loader.loadWithoutTexts("recovery"),
    createVaultPortal: () => createVaultPortal({ ...portalDeps, showDialog: serviceDialogs.ask }),
  });
  const visitorSource = createVisitorSource({
    loadRecovery: () => loader.loadWithoutTexts("recovery"),
    createVisitorPortal: (pathname) => createVisitorPortal(pathname, portalDeps),
  });
  session.onLock((reason) => vaultSource.lock(reason));
  session.onLock(visitorSource.close);
  // Removes plaintext everywhere after any lock of the vault, and refetches the queries on the
  // screen.
  vaultSource.onLocked(() => {
    clearOpenedData(queryClient);
    clearToasts(); // toasts may name a secret
    void session.lock();
  });
  deploymentWatch.subscribe(() => {
    if (!deploymentWatch.getState().disabledRemotes.has("recovery")) return;
    void vaultSource.stop();
    visitorSource.close();
  });

  for (const { remote, release, code, reason } of verifiedDeployment.refusals) {
    warn(`remote ${remote}`, `${release} refused, ${code}: ${reason}`);
    telemetry.recordLoad(remote, "verify", { code, release });
  }
  watchDisabledRemotes(deploymentWatch, (name) => {
    report(name, "verify", new PortalError("remote_disabled"));
  });

  return {
    verifiedDeployment,
    routes,
    deploymentWatch,
    session,
    http,
    reachability,
    loader,
    pageGuard: createPageGuard({ document, isImporting: loader.isImporting }),
    vaultSource,
    visitorSource,
    vendor: vendorAppearance,
    flags: createFeatureFlags(deployment, pageStorage.session),
    queryClient,
    i18n,
    theme,
    confirmQueue: createDialogQueue(),
    serviceDialogs,
    listStoredAccounts: async () => {
      const user = getUser(session.getState());
      return user === null ? [] : listStoredAccounts(user, createFrameStorage(await vaultFrame.getChannel()));
    },
    screenHistory,
    report,
    changeLanguage: createLanguageChanger(i18n, window),
  };

  /**
   * Finds a screen by its route pattern. The host's own screens have the host's version as release.
   */
  function findScreen(pathname: string | null): { remote: string; release: string; route: string } | null {
    const route = pathname === null ? null : findRoute(routes, pathname);
    if (route === null || "redirect" in route) return null;
    if (!("remote" in route)) return { remote: "host", release: deployment.app_version, route: route.path };
    const release = findRelease(route.remote);
    return release === null ? null : { remote: route.remote, release, route: route.path };
  }
}

/** Calls the listener once for each remote whose release is disabled while the page is open. */
function watchDisabledRemotes({ subscribe, getState }: DeploymentWatch, onDisabled: (name: RemoteName) => void): void {
  const seen = new Set<RemoteName>();
  subscribe(() => {
    for (const name of getState().disabledRemotes) {
      if (!seen.has(name)) onDisabled(name);
      seen.add(name);
    }
  });
}

/** The consent of a signed-in person is known once the frame has read the account. */
function readConsent(session: Session, queryClient: QueryClient, http: HttpClient): TelemetryConsent {
  const state = session.getState();
  if (state.status === "unauthenticated") return "visitor";
  const claims = getClaims(session.exchange.getState());
  const me = claims === null ? undefined : queryClient.getQueryData(meQuery(http, claims.sub).queryKey);
  return me === undefined ? "unknown" : me.telemetry ? "yes" : "no";
}

/** Null where the browser has no broadcast channels, or refuses them together with storage. */
function openChannel(): BroadcastChannel | null {
  try {
    return new BroadcastChannel("session");
  } catch {
    return null; // without a channel each tab ends its own session
  }
}

/** Safari has no `requestIdleCallback`. */
function whenIdle(callback: () => void): void {
  if ("requestIdleCallback" in window) window.requestIdleCallback(callback);
  else setTimeout(callback, 2_000);
}

interface ServicePortalDeps {
  readonly session: Session;
  readonly openVaultChannel: () => Promise<Channel>;
  readonly vaultOrigin: string;
}

/**
 * Creates the portal that the vault gets. Rejects with `login_required`, or with the error of the
 * token exchange.
 */
async function createVaultPortal({
  session,
  openVaultChannel,
  vaultOrigin,
  showDialog,
}: ServicePortalDeps & Pick<PortalForServices, "showDialog">): Promise<PortalForServices> {
  await session.exchange.getToken();
  const user = getUser(session.getState());
  const claims = getClaims(session.exchange.getState());
  if (user === null || claims === null) throw new PortalError("login_required");
  return {
    vendorId: claims.vid,
    account: {
      userId: claims.sub,
      issuer: user.issuer,
      subject: user.subject,
      ...(user.authTime === undefined ? {} : { authTime: user.authTime }),
    },
    frame: openVaultChannel,
    vaultOrigin,
    showDialog,
  };
}

/**
 * Creates the portal of a visitor, for a page opened by a link. Rejects with the error of the token
 * exchange.
 *
 * Sends the session token only with links for signed-in people, so that the service does not learn
 * who opens any other link.
 */
async function createVisitorPortal(
  pathname: string,
  { session, openVaultChannel, vaultOrigin }: ServicePortalDeps,
): Promise<PortalForVisitors> {
  const signedIn = pathname.startsWith("/p-shared/") && getUser(session.getState()) !== null;
  if (signedIn) await session.exchange.getToken();
  return { signedIn, frame: openVaultChannel, vaultOrigin };
}

/** What the vault's frame asks of the portal's page. */
function createPortalService(session: Session, reachability: Reachability): PortalServiceMembers {
  return {
    getToken: () => session.exchange.getToken(),
    renewToken: async () => {
      await session.exchange.renew("refused");
    },
    signInAgain: async () => ({ authTime: (await session.signInAgain()).authTime }),
    openSignIn: session.openSignIn,
    takeLinkSecret: () => takeLinkSecret(pageStorage.session, Date.now()),
    reportReachable: (isUp: boolean) => {
      reachability.report(isUp);
    },
  };
}
