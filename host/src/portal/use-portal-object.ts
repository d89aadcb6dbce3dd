import { Me, type SessionClaims } from "@relicario/shared/api";
import type { Portal, PortalUser, Vault, Visitor } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { useLocation, useNavigate } from "react-router-dom";

import { showToast } from "../popups/Toasts.tsx";
import { useHost, type Host } from "../context/host-context.ts";
import { isLinkPath } from "../session/fragment.ts";
import type { SessionUser } from "../session/machine.ts";
import { useLanguage } from "../settings/language.ts";

/** The account as the service knows it. */
export const meQuery = (http: Host["http"], userId: string) =>
  queryOptions({
    queryKey: ["user", "me", userId],
    queryFn: ({ signal }) => http.request("GET", "/user/me", Me, { signal }),
  });

export interface PortalObject {
  readonly portal: Portal;
  /** Whether the vault of this object failed to load. */
  readonly hasVaultFailed: () => boolean;
  /** Makes a new object, which loads the vault again. */
  readonly reloadVault: () => void;
}

/**
 * The portal object for the person with these claims; null claims are those of an anonymous visitor
 * of a public link.
 */
export function usePortalObject(claims: SessionClaims | null, sessionUser: SessionUser | null): PortalObject {
  const host = useHost();
  const { session, http, verified, confirms, flags, theme, changeLanguage, vault: source, visitor } = host;
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
  // A change of theme makes a new portal object: the vault is kept outside, so that it is not
  // loaded again.
  const holder = useMemo(
    () =>
      createVaultHolder(() =>
        attempt >= 0 && userId !== "" ? source.get() : Promise.reject(new PortalError("vault_unavailable")),
      ),
    [source, userId, attempt],
  );

  useEffect(() => {
    visitor.setActivePath(linkPath);
  }, [visitor, linkPath]);

  const portal = useMemo<Portal>(
    () =>
      Object.freeze<Portal>({
        http: claims === null ? session.publicHttp : http,
        get vault() {
          return holder.get();
        },
        get visitor() {
          return linkPath === null ? rejectVisitor() : visitor.get(linkPath);
        },
        user,
        vendor: Object.freeze({
          vendorId: verified.deployment.vendor_id,
          branding: Object.freeze({ productName: verified.deployment.branding.product_name }),
          messages: verified.deployment.messages,
          ...(verified.deployment.payments !== undefined && { paymentsUrl: verified.deployment.payments.url }),
        }),
        features,
        drives: verified.deployment.drives ?? {},
        language,
        theme: themeName,
        appVersion: verified.deployment.app_version,
        setLanguage: (chosen) => void changeLanguage(chosen),
        setTheme: (chosen) => {
          if (theme.getState() !== chosen) theme.toggle();
        },
        navigate,
        confirm: confirms.ask,
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
      holder,
      visitor,
      linkPath,
      user,
      verified,
      features,
      language,
      theme,
      themeName,
      changeLanguage,
      navigate,
      confirms,
      host,
    ],
  );
  const reloadVault = useCallback(() => {
    setAttempt((previous) => previous + 1);
  }, []);
  return { portal, hasVaultFailed: holder.hasFailed, reloadVault: reloadVault };
}

/**
 * A page that no link opened has none. React in development reads every prop, and nobody waits for
 * that.
 */
function rejectVisitor(): Promise<Visitor> {
  const rejected = Promise.reject<Visitor>(new PortalError("vault_unavailable"));
  rejected.catch(() => undefined);
  return rejected;
}

/** A stable function: outside of descendant routes, `useNavigate` always gives the same one. */
function usePortalNavigate(): Portal["navigate"] {
  const navigate = useNavigate();
  return useCallback((path, options) => void navigate(path, { replace: options?.replace ?? false }), [navigate]);
}

function createVaultHolder(loadVault: () => Promise<Vault>): {
  readonly get: () => Promise<Vault>;
  readonly hasFailed: () => boolean;
} {
  let pending: Promise<Vault> | null = null;
  let failed = false;
  return {
    get: () => {
      if (pending === null) {
        pending = loadVault();
        pending.catch(() => {
          failed = true;
        });
      }
      return pending;
    },
    hasFailed: () => failed,
  };
}
