import type { Http, Language, RemoteName } from "@relicario/shared/contract";
import type { PortalError } from "@relicario/shared/errors";
import type { QueryClient } from "@tanstack/react-query";
import type { i18n as I18n } from "i18next";
import { createContext, useContext } from "react";

import type { VerifiedDeployment } from "./deployment/verify.ts";
import type { DeploymentWatch } from "./deployment/watch.ts";
import type { FeatureFlags } from "./flags/feature-flags.ts";
import type { Confirms } from "./frame/confirms.ts";
import type { Place } from "./places.ts";
import type { RemoteLoader } from "./remotes/loader.ts";
import type { VaultSource } from "./remotes/vault-source.ts";
import type { Reachability } from "./service/reachability.ts";
import type { Session } from "./session/session.ts";
import type { ThemeStore } from "./settings/theme.ts";
import type { VendorStore } from "./settings/vendor.ts";

/** What the parts of the host are made of; put together once, in create-host.ts. */
export interface Host {
  readonly verified: VerifiedDeployment;
  /** Where each path of the portal leads; the router is made of them. */
  readonly places: readonly Place[];
  /** What became of the release set that this page runs. */
  readonly watch: DeploymentWatch;
  readonly session: Session;
  /** Calls with the session token, looked at by `reachability`; not limited to paths. */
  readonly http: Http;
  readonly reachability: Reachability;
  readonly loader: RemoteLoader;
  readonly vault: VaultSource;
  readonly vendor: VendorStore;
  readonly flags: FeatureFlags;
  readonly queryClient: QueryClient;
  readonly i18n: I18n;
  readonly theme: ThemeStore;
  readonly confirms: Confirms;
  readonly changeLanguage: (language: Language) => Promise<void>;
  readonly report: (name: RemoteName, phase: "load" | "render" | "call", error: PortalError) => void;
}

export const HostContext = createContext<Host | null>(null);

export function useHost(): Host {
  const host = useContext(HostContext);
  if (host === null) throw new TypeError("useHost is used outside the host");
  return host;
}
