import { usePortal, type Vault } from "@relicario/shared/contract";
import {
  ButtonLink,
  EmptyState,
  ErrorNotice,
  Loading,
  Notice,
  Skeleton,
  useVault,
  useVaultState,
} from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { LockOpen, ShieldPlus } from "lucide-react";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { refreshQuery } from "../data/sharing.ts";

interface WithVaultProps {
  /** Path to which the page returns after unlocking. */
  readonly returnTo: string;
  /** Rendered while the vault is unlocked. A lock unmounts it, and so drops its state. */
  readonly children: (vault: Vault) => ReactNode;
}

export function WithVault({ returnTo, children }: WithVaultProps) {
  const { t } = useTranslation("beta-share");
  const access = useVault();
  if (access.status === "failed") return <ErrorNotice error={access.error} onRetry={access.retry} />;
  if (access.status === "loading") return <VaultSkeleton label={t("vault.loading_status")} />;
  return (
    <VaultStateView vault={access.vault} returnTo={returnTo}>
      {children}
    </VaultStateView>
  );
}

function VaultStateView({ vault, returnTo, children }: WithVaultProps & { readonly vault: Vault }) {
  const { t } = useTranslation("beta-share");
  const { user } = usePortal();
  const { status } = useVaultState({ status: "ready", vault });
  const refresh = useQuery(refreshQuery(vault, user.userId));
  if (refresh.isError) return <ErrorNotice error={refresh.error} onRetry={() => void refresh.refetch()} />;
  switch (status) {
    case "unknown":
      return <VaultSkeleton label={t("vault.loading_status")} />;
    case "empty":
      return (
        <EmptyState
          icon={<ShieldPlus />}
          title={t("vault.empty_title")}
          actions={<ButtonLink to="/add-secret">{t("vault.add_action")}</ButtonLink>}
        >
          <p>{t("vault.empty_body")}</p>
        </EmptyState>
      );
    case "locked":
      return (
        <Notice
          title={t("vault.locked_title")}
          actions={
            <ButtonLink
              to={`/provide-image-recovery?${new URLSearchParams({ then: returnTo }).toString()}`}
              icon={<LockOpen aria-hidden />}
            >
              {t("vault.unlock_action")}
            </ButtonLink>
          }
        >
          {t("vault.locked_body")}
        </Notice>
      );
    case "unlocked":
      return children(vault);
    default:
      return status satisfies never;
  }
}

function VaultSkeleton({ label }: { readonly label: string }) {
  return (
    <Loading label={label}>
      <Skeleton height="220px" />
    </Loading>
  );
}
