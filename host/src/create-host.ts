import type { Http, Language, PortalForServices, PortalForVisitors, RemoteName } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { createI18n, loadTexts, shownLanguage, type Texts } from "@relicario/shared/i18n";
import type { QueryClient } from "@tanstack/react-query";
import { z } from "zod";

import { keptAccounts } from "./device/accounts.ts";
import { requirePinnedUserId } from "./device/pinned-user-id.ts";
import type { Sweeps } from "./device/sweeps.ts";
import { integrityOf, releaseAddress } from "./deployment/integrity.ts";
import type { VerifiedDeployment } from "./deployment/verify.ts";
import { createDeploymentWatch } from "./deployment/watch.ts";
import { createFeatureFlags } from "./flags/feature-flags.ts";
import { createConfirms } from "./frame/confirms.tsx";
import { clearToasts, showToast } from "./frame/Toasts.tsx";
import type { Host } from "./host-context.ts";
import { meQuery } from "./portal/use-portal-object.ts";
import { findRoute, portalRoutes } from "./routes.ts";
import { followFailedScripts } from "./remotes/failed-scripts.ts";
import { loadModule, registerVerified } from "./remotes/federation.ts";
import { createRemoteLoader } from "./remotes/loader.ts";
import { scopedHttp } from "./remotes/scoped-http.ts";
import { createVaultSource } from "./remotes/vault-source.ts";
import { createVisitorSource } from "./remotes/visitor-source.ts";
import { createReachability } from "./service/reachability.ts";
import { userOf } from "./session/machine.ts";
import { createSession, type Session } from "./session/session.ts";
import { takeLinkSecret } from "./session/link-secret.ts";
import { claimsOf } from "./session/token-exchange.ts";
import { languageChanger } from "./settings/language.ts";
import { createQueryClient, forgetOpened } from "./settings/query-client.ts";
import { pinnedTexts } from "./settings/texts.ts";
import type { ThemeStore } from "./settings/theme.ts";
import { createVendorStore } from "./settings/vendor.ts";
import { createTelemetry, type Wish } from "./telemetry/telemetry.ts";
import { ScreenHistory, watchVitals } from "./telemetry/vitals.ts";
import { warn } from "./warn.ts";

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
    fetchTexts: pinnedTexts(verified, origin, window.fetch.bind(window)),
    bundled: { [language]: texts },
  });

  registerVerified(verified, origin);
  const failedScripts = followFailedScripts({ page: window, fetch: window.fetch.bind(window), integrityOf });
  const watch = createDeploymentWatch({ pinned: verified, load: readDeployment, now: Date.now, log: warn });
  const report: Host["report"] = (name, phase, error) => {
    warn(`remote ${name}`, `${phase} ${error.code}`);
    if (phase !== "load") telemetry.loaded(name, phase, { code: error.code });
  };
  const routes = portalRoutes(verified.remotes, warn);
  const releaseOf = (name: RemoteName): string | null => {
    const remote = verified.remotes.get(name);
    return remote?.status === "verified" ? remote.record.release : (deployment.releases[name]?.stable ?? null);
  };
  const telemetry = createTelemetry({
    address: `${deployment.api.base_url}/telemetry`,
    releaseOf,
    wish: () => wishOf(session, queryClient, http),
    window,
    // https://w3c.github.io/gpc/
    privacyControl: "globalPrivacyControl" in navigator && navigator.globalPrivacyControl === true,
    fetch: window.fetch.bind(window),
  });
  const screens = new ScreenHistory();
  let vitalsWatched = false;
  const loader = createRemoteLoader({
    remotes: verified.remotes,
    isDisabled: (name) => watch.getState().disabled.has(name),
    loadModule,
    fetchAnew: async (name) => {
      const remote = verified.remotes.get(name);
      if (remote?.status === "verified") await failedScripts.fetchAnew(releaseAddress(origin, remote.record));
    },
    loadTexts: (namespaces) => loadTexts(i18n, namespaces),
    onFailure: (name, error) => {
      report(name, "load", error);
    },
    onMeasured: (name, phase, outcome) => {
      telemetry.loaded(name, phase, outcome);
      if (vitalsWatched || phase !== "page") return;
      vitalsWatched = true;
      whenIdle(() => {
        watchVitals({ screenAt: (time) => screenOf(screens.at(time)), add: telemetry.measured }).catch(
          (error: unknown) => {
            warn("vitals", error); // nothing but the measuring depends on it
          },
        );
      });
    },
  });

  let vendorNoticed = false;
  const onVendorIgnored = () => {
    vendor.refresh();
    if (!vendorNoticed) showToast({ tone: "info", text: i18n.t("header:vendor_ignored_body") });
    vendorNoticed = true;
  };
  const session = createSession({
    deployment,
    window,
    language: () => shownLanguage(i18n),
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
  const vendor = createVendorStore({
    deployment,
    storage: window.sessionStorage,
    http: session.repeating.publicHttp,
    onUnknown: onVendorIgnored,
  });
  session.exchange.subscribe(vendor.refresh);

  const reachability = createReachability(() => session.repeating.publicHttp.request("GET", "/readyz", z.unknown()));
  const http = reachability.watch(session.http);
  const repeatingHttp = reachability.watch(session.repeating.http);
  const vault = createVaultSource({
    loadRecovery: () => loader.code("recovery"),
    portal: () => portalForVault({ session, http: repeatingHttp, verified }),
  });
  const visitor = createVisitorSource({
    loadRecovery: () => loader.code("recovery"),
    portal: (pathname) =>
      portalForVisitor(pathname, {
        session,
        http: repeatingHttp,
        publicHttp: reachability.watch(session.repeating.publicHttp),
        verified,
      }),
  });
  session.onLock((reason) => vault.putAway(reason));
  session.onLock(visitor.close);
  // However the vault was locked: plaintext is removed everywhere, and what is on the screen is
  // loaded again.
  vault.onLocked(() => {
    forgetOpened(queryClient);
    clearToasts(); // they may name a secret
    void session.lock();
  });
  watch.subscribe(() => {
    if (!watch.getState().disabled.has("recovery")) return;
    void vault.stop();
    visitor.close();
  });

  return {
    verified,
    routes,
    watch,
    session,
    http,
    reachability,
    loader,
    vault,
    visitor,
    vendor,
    flags: createFeatureFlags(deployment, window.sessionStorage),
    queryClient,
    i18n,
    theme,
    confirms: createConfirms(),
    keptHere: async () => {
      const user = userOf(session.getState());
      return user === null ? [] : keptAccounts(user);
    },
    screens,
    report,
    changeLanguage: languageChanger(i18n, window),
  };

  /** A screen by the pattern of its route; those of the host have its version. */
  function screenOf(pathname: string | null): { remote: string; release: string; route: string } | null {
    const route = pathname === null ? null : findRoute(routes, pathname);
    if (route === null || "redirect" in route) return null;
    if (!("remote" in route)) return { remote: "host", release: deployment.app_version, route: route.path };
    const release = releaseOf(route.remote);
    return release === null ? null : { remote: route.remote, release, route: route.path };
  }
}

/** What somebody who is signed in wishes is known when the account was read, as the frame does. */
function wishOf(session: Session, queryClient: QueryClient, http: Http): Wish {
  const state = session.getState();
  if (state.status === "unauthenticated") return "visitor";
  const claims = claimsOf(session.exchange.getState());
  const me = claims === null ? undefined : queryClient.getQueryData(meQuery(http, claims.sub).queryKey);
  return me === undefined ? "unknown" : me.telemetry ? "yes" : "no";
}

/** Safari has no `requestIdleCallback`. */
function whenIdle(work: () => void): void {
  if ("requestIdleCallback" in window) window.requestIdleCallback(work);
  else setTimeout(work, 2_000);
}

/**
 * The portal as the vault sees it. Rejects with `login_required` or the error of the token exchange
 * while nobody is signed in.
 */
async function portalForVault({
  session,
  http,
  verified,
}: { readonly session: Session } & Pick<Host, "http" | "verified">): Promise<PortalForServices> {
  await session.exchange.token();
  const user = userOf(session.getState());
  const claims = claimsOf(session.exchange.getState());
  if (user === null || claims === null) throw new PortalError("login_required");
  return {
    http: forRecovery(http, verified),
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
async function portalForVisitor(
  pathname: string,
  {
    session,
    http,
    publicHttp,
    verified,
  }: { readonly session: Session; readonly publicHttp: Http } & Pick<Host, "http" | "verified">,
): Promise<PortalForVisitors> {
  const asAccount = pathname.startsWith("/p-shared/") && userOf(session.getState()) !== null;
  if (asAccount) await session.exchange.token();
  return {
    http: forRecovery(asAccount ? http : publicHttp, verified),
    vendorId: claimsOf(session.exchange.getState())?.vid ?? verified.deployment.vendor_id,
    takeLinkSecret: () => takeLinkSecret(sessionStorage, Date.now()),
  };
}

/** Limited to the paths that recovery's signed release declares. */
function forRecovery(http: Http, { remotes }: VerifiedDeployment): Http {
  const recovery = remotes.get("recovery");
  return scopedHttp(http, recovery?.status === "verified" ? recovery.record.manifest.api_paths : []);
}
