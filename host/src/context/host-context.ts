import type { HttpClient, Language, RemoteName } from "@relicario/shared/contract";
import type { PortalError } from "@relicario/shared/errors";
import type { QueryClient } from "@tanstack/react-query";
import type { i18n as I18n } from "i18next";
import { createContext, useContext } from "react";

import type { StoredAccount } from "../device/accounts.ts";
import type { VerifiedDeployment } from "../deployment/verify.ts";
import type { DeploymentWatch } from "../deployment/watch.ts";
import type { FeatureFlags } from "../settings/feature-flags.ts";
import type { ConfirmQueue, ServiceDialogs } from "../popups/dialog-hosts.tsx";
import type { PageGuard } from "../remotes/page-guard.ts";
import type { PortalRoute } from "../routes/routes.ts";
import type { RemoteLoader } from "../remotes/loader.ts";
import type { VaultSource } from "../remotes/vault-source.ts";
import type { VisitorSource } from "../remotes/visitor-source.ts";
import type { Reachability } from "../service/reachability.ts";
import type { Session } from "../session/session.ts";
import type { LoadPhase } from "../telemetry/telemetry.ts";
import type { ScreenHistory } from "../telemetry/vitals.ts";
import type { ThemeStore } from "../settings/theme.ts";
import type { VendorAppearanceStore } from "../settings/vendor-appearance.ts";

/** All parts of the host. Created once, in create-host.ts. */
export interface Host {
  readonly verifiedDeployment: VerifiedDeployment;
  /** All routes of the portal, from which the router is created. */
  readonly routes: readonly PortalRoute[];
  /** Whether the releases of this page are still in force. */
  readonly deploymentWatch: DeploymentWatch;
  readonly session: Session;
  /** Calls any path of the service with the session token. `reachability` observes the calls. */
  readonly http: HttpClient;
  readonly reachability: Reachability;
  readonly loader: RemoteLoader;
  /** Undoes what a remote's area does to the rest of the page. */
  readonly pageGuard: PageGuard;
  readonly vaultSource: VaultSource;
  readonly visitorSource: VisitorSource;
  readonly vendor: VendorAppearanceStore;
  readonly flags: FeatureFlags;
  readonly queryClient: QueryClient;
  readonly i18n: I18n;
  readonly theme: ThemeStore;
  readonly confirmQueue: ConfirmQueue;
  readonly serviceDialogs: ServiceDialogs;
  readonly listStoredAccounts: () => Promise<readonly StoredAccount[]>;
  readonly changeLanguage: (language: Language) => Promise<void>;
  /** Records which screen was shown when, for telemetry. */
  readonly screenHistory: ScreenHistory;
  readonly report: (name: RemoteName, phase: LoadPhase, error: PortalError) => void;
}

export const HostContext = createContext<Host | null>(null);

export function useHost(): Host {
  const host = useContext(HostContext);
  if (host === null) throw new TypeError("useHost must be called inside the host: wrap the component in its context");
  return host;
}
