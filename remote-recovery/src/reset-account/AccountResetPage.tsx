import { usePortal, type AccountResetStatus, type Vault } from "@relicario/shared/contract";
import { DeviceQuestion } from "@relicario/shared/forms";
import { getFormats } from "@relicario/shared/i18n";
import { ButtonLink, ErrorNotice, Notice, Page, Skeleton, useVault, useVaultState } from "@relicario/shared/ui";
import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";

import { RequestResetPanel } from "./RequestResetPanel.tsx";
import { ConfirmResetPanel } from "./ConfirmResetPanel.tsx";
import { CancelResetPanel } from "./CancelResetPanel.tsx";

/**
 * Route `/start-anew`: resets an account that nothing opens any more. E-mails link here, so that an
 * owner can object.
 */
export default function AccountResetPage() {
  const { t } = useTranslation("start-anew");
  const access = useVault();
  return (
    <Page title={t("page.title")}>
      {access.status === "loading" && <Skeleton height="320px" />}
      {access.status === "failed" && <ErrorNotice error={access.error} onRetry={access.retry} />}
      {access.status === "ready" && <ResetStatus vault={access.vault} />}
    </Page>
  );
}

const statusQuery = (vault: Vault, userId: string) =>
  queryOptions({
    queryKey: ["account-reset", userId],
    queryFn: ({ signal }) => vault.accountReset.status({ signal }),
    gcTime: 0,
  });

function ResetStatus({ vault }: { readonly vault: Vault }) {
  const { t } = useTranslation("start-anew");
  const { user, language } = usePortal();
  const queryClient = useQueryClient();
  const query = statusQuery(vault, user.userId);
  const { data: status, error, refetch } = useQuery(query);
  const vaultState = useVaultState({ status: "ready", vault });
  const { status: vaultStatus } = vaultState;
  useEffect(() => {
    // screens that need the keyring show this failure; this screen does not need it
    vault.refresh().catch(() => undefined);
  }, [vault]);
  if (status === undefined)
    return error === null ? <Skeleton height="320px" /> : <ErrorNotice error={error} onRetry={() => void refetch()} />;
  const handleChanged = (nextStatus: AccountResetStatus) => {
    queryClient.setQueryData(query.queryKey, nextStatus);
  };
  const formatTime = (time: string | null) => (time === null ? "" : getFormats(language).dateTime(time));
  switch (status.state) {
    case "waiting":
      return (
        <CancelResetPanel
          vault={vault}
          title={t("waiting.title", { date: formatTime(status.readyAt) })}
          body={t("waiting.body", { asked: formatTime(status.requestedAt) })}
          onChanged={handleChanged}
        />
      );
    case "ready":
      return (
        <>
          <ConfirmResetPanel vault={vault} onReset={() => void refetch()} />
          <CancelResetPanel
            vault={vault}
            title={t("ready.title")}
            body={t("ready.body", { asked: formatTime(status.requestedAt) })}
            onChanged={handleChanged}
          />
        </>
      );
    case "begun":
      return (
        <>
          <Notice
            tone="info"
            role="status"
            title={t("begun.title", { date: formatTime(status.endedAt) })}
            actions={
              <ButtonLink to={vaultStatus === "locked" ? "/provide-image-recovery?then=%2Fhome" : "/home"}>
                {t(vaultStatus === "locked" ? "begun.unlock_action" : "begun.home_action")}
              </ButtonLink>
            }
          >
            <p>{t("begun.body", { date: formatTime(status.retainedUntil) })}</p>
          </Notice>
          {vaultState.status === "unlocked" && vaultState.device === null && <DeviceQuestion vault={vault} />}
          {vaultStatus === "locked" && <RequestResetPanel vault={vault} onChanged={handleChanged} />}
        </>
      );
    case "none":
    case "objected":
    case "cancelled":
      if (vaultStatus === "empty") return <Notice tone="info">{t("ask.empty_body")}</Notice>;
      return (
        <>
          {status.state !== "none" && (
            <Notice
              tone="info"
              role="status"
              title={t(`ended.${status.state}_title`, { date: formatTime(status.endedAt) })}
            >
              {t("ended.body")}
            </Notice>
          )}
          <RequestResetPanel vault={vault} onChanged={handleChanged} />
        </>
      );
    default:
      return status.state satisfies never;
  }
}
