import { Me } from "@relicario/shared/api";
import {
  findDueCopyChecks,
  copyCheckIntervalDays,
  getNextCopyCheckAt,
  usePortal,
  type Portal,
  type SecretRow,
  type ShareSummary,
  type Vault,
} from "@relicario/shared/contract";
import { getFormats } from "@relicario/shared/i18n";
import { Button, ButtonLink, markVerbatim, Notice, renderVerbatim, SectionTitle, Stack } from "@relicario/shared/ui";
import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { liveSharesQuery } from "../data/secrets.ts";

/** Shares that expire within this time are listed. */
const expiringSoonMilliseconds = 2 * 86_400_000;
const maxExpiringShares = 3;

interface AttentionProps {
  readonly vault: Vault;
  readonly rows: readonly SecretRow[];
}

/**
 * Shows what needs attention: a copy check that is due, shares that expire soon, and a contact
 * address that is missing or unverified.
 */
export function Attention({ vault, rows }: AttentionProps) {
  const { t } = useTranslation("beta-home");
  const { navigate, user, http, language } = usePortal();
  const { data: shares = [] } = useQuery(liveSharesQuery(vault, user.userId, vault.getState().status));
  const [now] = useState(() => Date.now());
  const me = useQuery(accountQuery(http, user.userId));
  const overdueRows = findDueCopyChecks(rows, now);
  useReportCopyCheckDue(rows, me.data?.rehearsal_due_at);
  const [mostOverdueRow] = overdueRows;
  const addressProblem =
    me.data === undefined || me.data.contact_email_verified
      ? null
      : me.data.contact_email === null
        ? "missing"
        : "unverified";
  const expiringShares = findExpiringShares(shares, rows, now);
  if (mostOverdueRow === undefined && addressProblem === null && expiringShares.length === 0) return null;
  return (
    <Stack $gap={3}>
      <SectionTitle>{t("attention.title")}</SectionTitle>
      {mostOverdueRow !== undefined && (
        <Notice
          tone="warn"
          title={t("attention.rehearse_title", { count: overdueRows.length })}
          actions={
            <Button
              tone="quiet"
              size="small"
              onClick={() => {
                navigate(
                  `/provide-image-recovery?${new URLSearchParams({ check: mostOverdueRow.secretId }).toString()}`,
                );
              }}
            >
              {renderVerbatim(
                t("attention.rehearse_action", { title: markVerbatim(mostOverdueRow.label?.title ?? "") }),
              )}
            </Button>
          }
        >
          {t("attention.rehearse_body", { days: copyCheckIntervalDays })}
        </Notice>
      )}
      {expiringShares.map(({ share, title }) => (
        <Notice
          key={share.shareId}
          tone="info"
          title={t("attention.share_title", { title: markVerbatim(title) })}
          actions={
            <ButtonLink tone="quiet" size="small" to={`/share/${share.secretId}`}>
              {t("attention.share_action")}
            </ButtonLink>
          }
        >
          {t("attention.share_body", { when: getFormats(language).dateTime(share.expiresAt) })}
        </Notice>
      ))}
      {addressProblem !== null && (
        <Notice
          tone="warn"
          title={t(`attention.address_${addressProblem}_title`)}
          actions={
            <ButtonLink tone="quiet" size="small" to="/settings/profile">
              {t("attention.address_action")}
            </ButtonLink>
          }
        >
          {t("attention.address_body")}
        </Notice>
      )}
    </Stack>
  );
}

/**
 * Reports when the next copy check is due, if the service has another date. The date changes with
 * every check, edit and removal on any device. After a failure the next visit reports it.
 */
function useReportCopyCheckDue(rows: readonly SecretRow[], reportedDueAt: string | null | undefined): void {
  const { user, http } = usePortal();
  const client = useQueryClient();
  const locked = rows.some((row) => row.deletedAt === null && row.label === null);
  const dueAt = getNextCopyCheckAt(rows);
  useEffect(() => {
    if (reportedDueAt === undefined || locked || dueAt === reportedDueAt) return;
    http.request("POST", "/user/me", Me, { body: { rehearsal_due_at: dueAt } }).then(
      (me) => client.setQueryData(accountQuery(http, user.userId).queryKey, me),
      () => undefined,
    );
  }, [http, client, user.userId, locked, dueAt, reportedDueAt]);
}

/** Returns the secrets whose last share expires within two days, soonest first, at most three. */
export function findExpiringShares(
  shares: readonly ShareSummary[],
  rows: readonly SecretRow[],
  now: number,
): readonly { readonly share: ShareSummary; readonly title: string }[] {
  return rows
    .flatMap(({ secretId, label }) => {
      const lastShare = shares
        .filter((share) => share.secretId === secretId)
        .toSorted((a, b) => Date.parse(b.expiresAt) - Date.parse(a.expiresAt))[0];
      return lastShare === undefined || Date.parse(lastShare.expiresAt) - now > expiringSoonMilliseconds
        ? []
        : [{ share: lastShare, title: label?.title ?? "" }];
    })
    .toSorted((a, b) => Date.parse(a.share.expiresAt) - Date.parse(b.share.expiresAt))
    .slice(0, maxExpiringShares);
}

/** The account. A failure is not shown, because the screen works without the account. */
export const accountQuery = (http: Portal["http"], userId: string) =>
  queryOptions({
    queryKey: ["secrets-home", "me", userId],
    queryFn: ({ signal }) => http.request("GET", "/user/me", Me, { signal }),
  });
