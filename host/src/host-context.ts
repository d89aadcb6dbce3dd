import type { Language, RemoteName } from "@relicario/shared/contract";
import type { PortalError } from "@relicario/shared/errors";
import type { QueryClient } from "@tanstack/react-query";
import type { i18n as I18n } from "i18next";
import { createContext, useContext } from "react";

import type { VerifiedDeployment } from "./deployment/verify.ts";
import type { Confirms } from "./frame/confirms.ts";
import type { RemoteLoader } from "./remotes/loader.ts";
import type { VaultSource } from "./remotes/vault-source.ts";
import type { Session } from "./session/session.ts";
import type { ThemeStore } from "./settings/theme.ts";

/** What the parts of the host are made of; put together once, in bootstrap.tsx. */
export interface Host {
  readonly verified: VerifiedDeployment;
  readonly session: Session;
  readonly loader: RemoteLoader;
  readonly vault: VaultSource;
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
