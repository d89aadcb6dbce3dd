import { usePortal, type SecretRow } from "@relicario/shared/contract";
import { Button, ButtonLink, Notice, SectionTitle, Stack } from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { addressQuery, notRehearsed, rehearsalDays } from "./attention.ts";

interface AttentionProps {
  readonly rows: readonly SecretRow[];
}

/** What somebody should look after: a picture that was not tried for long, an address that is not confirmed. */
export function Attention({ rows }: AttentionProps) {
  const { t } = useTranslation("beta-home");
  const { navigate, user, http } = usePortal();
  const [now] = useState(() => Date.now());
  const me = useQuery(addressQuery(http, user.userId));
  const waiting = notRehearsed(rows, now);
  const [longest] = waiting;
  const address = me.data === undefined || me.data.contact_email_verified ? null : me.data.contact_email === null ? "missing" : "unverified";
  if (longest === undefined && address === null) return null;
  return (
    <Stack $gap={3}>
      <SectionTitle>{t("attention.title")}</SectionTitle>
      {longest !== undefined && (
        <Notice
          tone="warn"
          title={t("attention.rehearse_title", { count: waiting.length })}
          actions={
            <Button
              tone="quiet"
              size="small"
              onClick={() => {
                navigate(`/provide-image-recovery?${new URLSearchParams({ secret: longest.secretId }).toString()}`);
              }}
            >
              {t("attention.rehearse_action", { title: longest.label?.title ?? "" })}
            </Button>
          }
        >
          {t("attention.rehearse_body", { days: rehearsalDays })}
        </Notice>
      )}
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
