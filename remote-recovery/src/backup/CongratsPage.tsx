import { rehearsalDays } from "@relicario/shared/contract";
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
import { KeepTaken } from "../picture/KeepTaken.tsx";
import { useTaken } from "../picture/taken-picture.ts";
import { Confetti } from "./Confetti.tsx";
import { useRehearsalDue } from "./useRehearsalDue.ts";

/**
 * The end of a backup (`?secret=` names what was protected) or of a rehearsal (`?rehearsed=`): what
 * to do now.
 */
export default function CongratsPage() {
  const { t } = useTranslation(["congrats", "provide-image"]);
  const [query] = useSearchParams();
  const [secretId, rehearsed] = [query.get("secret"), query.get("rehearsed")];
  const taken = useTaken();
  const access = useVault();
  const state = useVaultState(access);
  useRehearsalDue(access);
  return (
    <Page
      title={t(rehearsed === null ? "page.title" : "rehearsed.title")}
      lead={rehearsed === null ? t("page.lead_body") : t("rehearsed.lead_body", { days: rehearsalDays })}
    >
      {(secretId !== null || rehearsed !== null) && <Confetti />}
      {secretId !== null && <FlowSteps flow="backup" step="congrats" />}
      {access.status === "ready" && state.status === "unlocked" && state.device === null && (
        <DeviceQuestion vault={access.vault} />
      )}
      {taken !== null && <KeepTaken taken={taken} />}
      {secretId !== null && (
        <Card aria-labelledby="congrats-try">
          <Stack $gap={3}>
            <SectionTitle id="congrats-try">{t("try.title")}</SectionTitle>
            <Muted>{t("try.body")}</Muted>
            <SpacedRow>
              <ButtonLink to={rehearsalPath(secretId)}>{t("try.now_action")}</ButtonLink>
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
        {rehearsed !== null && (
          <ButtonLink tone="quiet" to={rehearsalPath(rehearsed)}>
            {t("rehearsed.once_more_action")}
          </ButtonLink>
        )}
      </SpacedRow>
    </Page>
  );
}

function rehearsalPath(secretId: string): string {
  return `/provide-image-recovery?${new URLSearchParams({ rehearse: secretId }).toString()}`;
}
