import { usePortal } from "@relicario/shared/contract";
import { Switch } from "@relicario/shared/forms";
import { Card, ErrorNotice, Loading, Muted, SectionTitle, Skeleton, Stack } from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { meQuery, useUpdateMe } from "../data/me.ts";

/**
 * Switch that allows the portal to send usage measurements to the service. It takes effect at once.
 */
export function TelemetryCard() {
  const { t } = useTranslation("settings-data");
  const me = useQuery(meQuery(usePortal()));
  const update = useUpdateMe();
  return (
    <Card aria-labelledby="telemetry">
      <Stack $gap={3}>
        <SectionTitle id="telemetry">{t("telemetry.title")}</SectionTitle>
        <Muted>{t("telemetry.body")}</Muted>
        <ErrorNotice error={update.error} />
        {me.isError && <ErrorNotice error={me.error} onRetry={() => void me.refetch()} />}
        {me.isPending && (
          <Loading label={t("telemetry.loading_status")}>
            <Skeleton height="44px" />
          </Loading>
        )}
        {me.data !== undefined && (
          <div>
            <Switch
              label={t("telemetry.on_label")}
              checked={(update.isPending ? update.variables.telemetry : undefined) ?? me.data.telemetry}
              disabled={update.isPending}
              onChange={(telemetry) => {
                update.mutate({ telemetry });
              }}
            />
          </div>
        )}
      </Stack>
    </Card>
  );
}
