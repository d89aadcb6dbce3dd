import { copyCheckIntervalDays } from "@relicario/shared/contract";
import { DeviceQuestion } from "@relicario/shared/forms";
import {
  ButtonLink,
  Card,
  Muted,
  Page,
  SectionTitle,
  SpacedRow,
  Stack,
  useVault,
  useVaultState,
} from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";
import { useSearchParams } from "react-router-dom";

import { FlowSteps } from "../flow/FlowSteps.tsx";
import { SaveCapturedPicture } from "../picture/SaveCapturedPicture.tsx";
import { useCapturedPicture } from "../picture/captured-picture.ts";
import { Confetti } from "./Confetti.tsx";
import { useCopyCheckDue } from "./useCopyCheckDue.ts";

/**
 * The end of a backup (`?secret=` names what was protected) or of a rehearsal (`?checked=`): what
 * to do now.
 */
export default function CongratsPage() {
  const { t } = useTranslation(["congrats", "provide-image"]);
  const [query] = useSearchParams();
  const [secretId, checkedSecretId] = [query.get("secret"), query.get("checked")];
  const capturedPicture = useCapturedPicture();
  const access = useVault();
  const state = useVaultState(access);
  useCopyCheckDue(access);
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
      {capturedPicture !== null && <SaveCapturedPicture capturedPicture={capturedPicture} />}
      {secretId !== null && (
        <Card aria-labelledby="congrats-try">
          <Stack $gap={3}>
            <SectionTitle id="congrats-try">{t("try.title")}</SectionTitle>
            <Muted>{t("try.body")}</Muted>
            <SpacedRow>
              <ButtonLink to={copyCheckPath(secretId)}>{t("try.now_action")}</ButtonLink>
            </SpacedRow>
          </Stack>
        </Card>
      )}
      <Card aria-labelledby="congrats-keep">
        <Stack $gap={3}>
          <SectionTitle id="congrats-keep">{t("keep.title")}</SectionTitle>
          <Muted>{t("keep.body")}</Muted>
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
          <ButtonLink tone="quiet" to={copyCheckPath(checkedSecretId)}>
            {t("rehearsed.once_more_action")}
          </ButtonLink>
        )}
      </SpacedRow>
    </Page>
  );
}

function copyCheckPath(secretId: string): string {
  return `/provide-image-recovery?${new URLSearchParams({ check: secretId }).toString()}`;
}
