import { usePortal, type Vault } from "@relicario/shared/contract";
import { getFormats } from "@relicario/shared/i18n";
import { Button, ButtonLink, ErrorNotice, Notice, useVault, useVaultState } from "@relicario/shared/ui";
import { queryOptions, skipToken, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

/** Status of the account reset. Only the page `/start-anew` shows its failure. */
export const accountResetQuery = (vault: Vault | null, userId: string) =>
  queryOptions({
    queryKey: ["secrets-home", "account-reset", userId],
    queryFn: vault === null ? skipToken : ({ signal }) => vault.accountReset.status({ signal }),
  });

/**
 * Shows on every device, locked or not, that a reset of the account was requested, and how to
 * object. A device that does not have the new keys shows that the account was reset.
 */
export function AccountResetNotice() {
  const { t } = useTranslation("beta-home");
  const { user, language } = usePortal();
  const client = useQueryClient();
  const access = useVault();
  const vaultState = useVaultState(access);
  const query = accountResetQuery(access.status === "ready" ? access.vault : null, user.userId);
  const { data } = useQuery(query);
  const objectMutation = useMutation({
    mutationFn: (vault: Vault) => vault.accountReset.end("objected"),
    onSuccess: (next) => {
      client.setQueryData(query.queryKey, next);
    },
  });
  if (access.status !== "ready" || data === undefined) return null;
  const formatTime = (time: string | null) => (time === null ? "" : getFormats(language).dateTime(time));
  const detailsLink = (
    <ButtonLink tone="quiet" size="small" to="/start-anew">
      {t("start_anew.more_action")}
    </ButtonLink>
  );
  if (data.state === "begun" && vaultState.status === "locked") {
    return (
      <Notice
        tone="warn"
        role="status"
        title={t("start_anew.begun_title", { date: formatTime(data.endedAt) })}
        actions={detailsLink}
      >
        {t("start_anew.begun_body")}
      </Notice>
    );
  }
  if (data.state !== "waiting" && data.state !== "ready") return null;
  return (
    <>
      <Notice
        tone="danger"
        role="alert"
        title={t(`start_anew.${data.state}_title`)}
        actions={
          <>
            <Button
              tone="danger"
              size="small"
              pending={objectMutation.isPending}
              onClick={() => {
                objectMutation.mutate(access.vault);
              }}
            >
              {t("start_anew.object_action")}
            </Button>
            {detailsLink}
          </>
        }
      >
        {t("start_anew.asked_body", { date: formatTime(data.readyAt) })}
      </Notice>
      <ErrorNotice error={objectMutation.error} />
    </>
  );
}
