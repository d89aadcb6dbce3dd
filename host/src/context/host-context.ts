import type { HttpClient, Language, RemoteName } from "@relicario/shared/contract";
import type { PortalError } from "@relicario/shared/errors";
import type { QueryClient } from "@tanstack/react-query";
import type { i18n as I18n } from "i18next";
import { createContext, useContext } from "react";

import type { StoredAccount } from "../device/accounts.ts";
import type { VerifiedDeployment } from "../deployment/verify.ts";
import type { DeploymentWatch } from "../deployment/watch.ts";
import type { FeatureFlags } from "../settings/feature-flags.ts";
import type { ConfirmQueue } from "../popups/confirms.tsx";
import type { PortalRoute } from "../routes/routes.ts";
import type { RemoteLoader } from "../remotes/loader.ts";
import type { VaultSource } from "../remotes/vault-source.ts";
import type { VisitorSource } from "../remotes/visitor-source.ts";
import type { Reachability } from "../service/reachability.ts";
import type { Session } from "../session/session.ts";
import type { ScreenHistory } from "../telemetry/vitals.ts";
import type { ThemeStore } from "../settings/theme.ts";
import type { VendorAppearanceStore } from "../settings/vendor.ts";

/** Everything that the host consists of; created once, in create-host.ts. */
export interface Host {
  readonly verified: VerifiedDeployment;
  /** All routes of the portal; the router is made from them. */
  readonly routes: readonly PortalRoute[];
  /** Whether the releases that this page runs are still in force. */
  readonly watch: DeploymentWatch;
  readonly session: Session;
  /** Calls with the session token to any path of the service, observed by `reachability`. */
  readonly http: HttpClient;
  readonly reachability: Reachability;
  readonly loader: RemoteLoader;
  readonly vault: VaultSource;
  readonly visitor: VisitorSource;
  readonly vendor: VendorAppearanceStore;
  readonly flags: FeatureFlags;
  readonly queryClient: QueryClient;
  readonly i18n: I18n;
  readonly theme: ThemeStore;
  readonly confirms: ConfirmQueue;
  /** What this device keeps of the person's accounts. */
  readonly listStoredAccounts: () => Promise<readonly StoredAccount[]>;
  readonly changeLanguage: (language: Language) => Promise<void>;
  /** Which screen was shown when, for what is measured. */
  readonly screens: ScreenHistory;
  readonly report: (name: RemoteName, phase: "load" | "render" | "call", error: PortalError) => void;
}

export const HostContext = createContext<Host | null>(null);

export function useHost(): Host {
  const host = useContext(HostContext);
  if (host === null) throw new TypeError("useHost is used outside the host");
  return host;
}
