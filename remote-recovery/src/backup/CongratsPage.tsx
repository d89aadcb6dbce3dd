import { copyCheckIntervalDays } from "@relicario/shared/contract";
import { DeviceQuestion } from "@relicario/shared/forms";
import {
  ButtonLink,
  Card,
  Muted,
  Page,
  PictureFacts,
  SectionTitle,
  SpacedRow,
  Stack,
  useVault,
  useVaultState,
} from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";
import { useSearchParams } from "react-router-dom";

import { FlowSteps } from "../flow/FlowSteps.tsx";
import { Confetti } from "./Confetti.tsx";
import { useReportCopyCheckDue } from "./useReportCopyCheckDue.ts";

/**
 * Route `/congrats`: end of a backup (`?secret=` is the protected secret) or of a copy check
 * (`?checked=`), with next steps.
 */
export default function CongratsPage() {
  const { t } = useTranslation(["congrats", "provide-image"]);
  const [query] = useSearchParams();
  const [secretId, checkedSecretId] = [query.get("secret"), query.get("checked")];
  const access = useVault();
  const state = useVaultState(access);
  useReportCopyCheckDue(access);
  return (
    <Page
      title={t(checkedSecretId === null ? "page.title" : "rehearsed.title")}
      lead={checkedSecretId === null ? t("page.lead_body") : t("rehearsed.lead_body", { days: copyCheckIntervalDays })}
    >
      {(secretId !== null || checkedSecretId !== null) && <Confetti />}
      {secretId !== null && <FlowSteps flow="backup" step="congrats" />}
      {access.status === "ready" && state.status === "unlocked" && state.device === null && (
        <DeviceQuestion vault={access.vault} />
      )}
      {secretId !== null && (
        <Card aria-labelledby="congrats-try">
          <Stack $gap={3}>
            <SectionTitle id="congrats-try">{t("try.title")}</SectionTitle>
            <Muted>{t("try.body")}</Muted>
            <SpacedRow>
              <ButtonLink to={buildCopyCheckPath(secretId)}>{t("try.now_action")}</ButtonLink>
            </SpacedRow>
          </Stack>
        </Card>
      )}
      <Card aria-labelledby="congrats-keep">
        <Stack $gap={3}>
          <SectionTitle id="congrats-keep">{t("keep.title")}</SectionTitle>
          <Muted>{t("keep.body")}</Muted>
          <PictureFacts />
          <SpacedRow>
            <ButtonLink tone="quiet" to="/safeguard">
              {t("keep.safeguard_action")}
            </ButtonLink>
          </SpacedRow>
        </Stack>
      </Card>
      <SpacedRow>
        <ButtonLink tone={secretId === null ? "primary" : "quiet"} to="/secrets">
          {t("page.list_action")}
        </ButtonLink>
        {checkedSecretId !== null && (
          <ButtonLink tone="quiet" to={buildCopyCheckPath(checkedSecretId)}>
            {t("rehearsed.once_more_action")}
          </ButtonLink>
        )}
      </SpacedRow>
    </Page>
  );
}

function buildCopyCheckPath(secretId: string): string {
  return `/provide-image-recovery?${new URLSearchParams({ check: secretId }).toString()}`;
}
