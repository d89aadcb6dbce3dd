import { Me, type SessionClaims } from "@relicario/shared/api";
import type { Portal, PortalUser, Visitor } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { useLocation, useNavigate } from "react-router-dom";

import { showToast } from "../popups/Toasts.tsx";
import { useHost, type Host } from "../context/host-context.ts";
import { isLinkPath } from "../session/fragment.ts";
import type { SessionUser } from "../session/session-state.ts";
import { useLanguage } from "../settings/language.ts";
import { createVaultHolder } from "./vault-holder.ts";

export const meQuery = (http: Host["http"], userId: string) =>
  queryOptions({
    queryKey: ["user", "me", userId],
    queryFn: ({ signal }) => http.request("GET", "/user/me", Me, { signal }),
  });

export interface PortalObject {
  readonly portal: Portal;
  /** Whether the vault of this portal object failed to load. */
  readonly hasVaultFailed: () => boolean;
  /** Creates a new portal object, which loads the vault again. */
  readonly reloadVault: () => void;
}

/**
 * The portal object of the signed-in person; of an anonymous visitor of a public link when `claims`
 * is null.
 */
export function usePortalObject(claims: SessionClaims | null, sessionUser: SessionUser | null): PortalObject {
  const host = useHost();
  const { session, http, verifiedDeployment, confirmQueue, flags, theme, changeLanguage, vaultSource, visitorSource } =
    host;
  const { pathname } = useLocation();
  const linkPath = isLinkPath(pathname) ? pathname : null;
  const navigate = usePortalNavigate();
  const language = useLanguage();
  const features = useSyncExternalStore(flags.subscribe, flags.getState);
  const themeName = useSyncExternalStore(theme.subscribe, theme.getState);
  const [attempt, setAttempt] = useState(0);
  const userId = claims?.sub ?? "";
  const me = useQuery({ ...meQuery(http, userId), enabled: claims !== null });

  const user = useMemo<PortalUser>(
    () =>
      Object.freeze({
        userId,
        userName: me.data?.user_name ?? sessionUser?.name ?? "",
        contactEmail: me.data?.contact_email ?? null,
      }),
    [userId, me.data, sessionUser],
  );
  // A change of theme creates a new portal object. The vault is held outside the object, so that it
  // is not loaded again.
  const vaultHolder = useMemo(
    () =>
      createVaultHolder(() =>
        attempt >= 0 && userId !== "" ? vaultSource.get() : Promise.reject(new PortalError("vault_unavailable")),
      ),
    [vaultSource, userId, attempt],
  );

  useEffect(() => {
    visitorSource.setActivePath(linkPath);
  }, [visitorSource, linkPath]);

  const portal = useMemo<Portal>(
    () =>
      Object.freeze<Portal>({
        http: claims === null ? session.publicHttp : http,
        get vault() {
          return vaultHolder.get();
        },
        get visitor() {
          return linkPath === null ? rejectVisitor() : visitorSource.get(linkPath);
        },
        user,
        vendor: Object.freeze({
          vendorId: verifiedDeployment.deployment.vendor_id,
          branding: Object.freeze({ productName: verifiedDeployment.deployment.branding.product_name }),
          messages: verifiedDeployment.deployment.messages,
          ...(verifiedDeployment.deployment.payments !== undefined && {
            paymentsUrl: verifiedDeployment.deployment.payments.url,
          }),
          ...(verifiedDeployment.deployment.handovers !== undefined && {
            handovers: verifiedDeployment.deployment.handovers,
          }),
        }),
        features,
        drives: verifiedDeployment.deployment.drives ?? {},
        language,
        theme: themeName,
        appVersion: verifiedDeployment.deployment.app_version,
        setLanguage: (chosen) => void changeLanguage(chosen),
        setTheme: (chosen) => {
          if (theme.getState() !== chosen) theme.toggle();
        },
        navigate,
        confirm: confirmQueue.ask,
        notify: showToast,
        signInAgain: async () => {
          await session.signInAgain();
        },
        report: ({ remote, phase, code }) => {
          host.report(remote, phase, new PortalError(code));
        },
        onLock: session.onLock,
      }),
    [
      claims,
      session,
      http,
      vaultHolder,
      visitorSource,
      linkPath,
      user,
      verifiedDeployment,
      features,
      language,
      theme,
      themeName,
      changeLanguage,
      navigate,
      confirmQueue,
      host,
    ],
  );
  const reloadVault = useCallback(() => {
    setAttempt((previous) => previous + 1);
  }, []);
  useEffect(() => vaultSource.onDropped(reloadVault), [vaultSource, reloadVault]);
  return { portal, hasVaultFailed: vaultHolder.hasFailed, reloadVault };
}

/**
 * Rejects on pages that no link opened. The rejection is handled here, because React in development
 * reads every prop.
 */
function rejectVisitor(): Promise<Visitor> {
  const rejected = Promise.reject<Visitor>(new PortalError("vault_unavailable"));
  rejected.catch(() => undefined);
  return rejected;
}

/** Never changes: outside descendant routes, `useNavigate` always returns the same function. */
function usePortalNavigate(): Portal["navigate"] {
  const navigate = useNavigate();
  return useCallback((path, options) => void navigate(path, { replace: options?.replace ?? false }), [navigate]);
}
