import { Me } from "@relicario/shared/api";
import {
  dueForRehearsal,
  rehearsalDays,
  rehearsalDueAt,
  usePortal,
  type Portal,
  type SecretRow,
  type ShareMark,
  type Vault,
} from "@relicario/shared/contract";
import { formatsOf } from "@relicario/shared/i18n";
import { Button, ButtonLink, Notice, SectionTitle, Stack } from "@relicario/shared/ui";
import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { liveSharesQuery } from "../data/secrets.ts";

/** A share that ends within this time is named. */
const soonMilliseconds = 2 * 86_400_000;
const mostEnding = 3;

interface AttentionProps {
  readonly vault: Vault;
  readonly rows: readonly SecretRow[];
}

/**
 * Suggests a rehearsal when a secret was not opened for long, and the profile when the contact
 * address is missing or unverified.
 */
export function Attention({ vault, rows }: AttentionProps) {
  const { t } = useTranslation("beta-home");
  const { navigate, user, http, language } = usePortal();
  const { data: shares = [] } = useQuery(liveSharesQuery(vault, user.userId, vault.getState().status));
  const [now] = useState(() => Date.now());
  const me = useQuery(accountQuery(http, user.userId));
  const overdue = dueForRehearsal(rows, now);
  useRehearsalDue(rows, me.data?.rehearsal_due_at);
  const [first] = overdue;
  const address =
    me.data === undefined || me.data.contact_email_verified
      ? null
      : me.data.contact_email === null
        ? "missing"
        : "unverified";
  const ending = endingSoon(shares, rows, now);
  if (first === undefined && address === null && ending.length === 0) return null;
  return (
    <Stack $gap={3}>
      <SectionTitle>{t("attention.title")}</SectionTitle>
      {first !== undefined && (
        <Notice
          tone="warn"
          title={t("attention.rehearse_title", { count: overdue.length })}
          actions={
            <Button
              tone="quiet"
              size="small"
              onClick={() => {
                navigate(`/provide-image-recovery?${new URLSearchParams({ rehearse: first.secretId }).toString()}`);
              }}
            >
              {t("attention.rehearse_action", { title: first.label?.title ?? "" })}
            </Button>
          }
        >
          {t("attention.rehearse_body", { days: rehearsalDays })}
        </Notice>
      )}
      {ending.map(({ share, title }) => (
        <Notice
          key={share.shareId}
          tone="info"
          title={t("attention.share_title", { title })}
          actions={
            <ButtonLink tone="quiet" size="small" to={`/share/${share.secretId}`}>
              {t("attention.share_action")}
            </ButtonLink>
          }
        >
          {t("attention.share_body", { when: formatsOf(language).dateTime(share.expiresAt) })}
        </Notice>
      ))}
      {address !== null && (
        <Notice
          tone="warn"
          title={t(`attention.address_${address}_title`)}
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
 * Tells the service when the first of these secrets is due, where it does not know: it changes with
 * every rehearsal, edit and removal on any device. A failure is made up for at the next visit.
 */
function useRehearsalDue(rows: readonly SecretRow[], known: string | null | undefined): void {
  const { user, http } = usePortal();
  const client = useQueryClient();
  const locked = rows.some((row) => row.deletedAt === null && row.label === null);
  const due = rehearsalDueAt(rows);
  useEffect(() => {
    if (known === undefined || locked || due === known) return;
    http.request("POST", "/user/me", Me, { body: { rehearsal_due_at: due } }).then(
      (me) => client.setQueryData(accountQuery(http, user.userId).queryKey, me),
      () => undefined,
    );
  }, [http, client, user.userId, locked, due, known]);
}

/**
 * Secrets whose last share ends within two days, with that share, the soonest first; at most three.
 */
export function endingSoon(
  shares: readonly ShareMark[],
  rows: readonly SecretRow[],
  now: number,
): readonly { readonly share: ShareMark; readonly title: string }[] {
  return rows
    .flatMap(({ secretId, label }) => {
      const last = shares
        .filter((share) => share.secretId === secretId)
        .toSorted((a, b) => Date.parse(b.expiresAt) - Date.parse(a.expiresAt))[0];
      return last === undefined || Date.parse(last.expiresAt) - now > soonMilliseconds
        ? []
        : [{ share: last, title: label?.title ?? "" }];
    })
    .toSorted((a, b) => Date.parse(a.share.expiresAt) - Date.parse(b.share.expiresAt))
    .slice(0, mostEnding);
}

/**
 * The account, for its contact address. A failure is not shown: the first screen works without it.
 */
export const accountQuery = (http: Portal["http"], userId: string) =>
  queryOptions({
    queryKey: ["secrets-home", "me", userId],
    queryFn: ({ signal }) => http.request("GET", "/user/me", Me, { signal }),
  });
