import type { Vault } from "@relicario/shared/contract";
import { OpenerPrompt } from "@relicario/shared/forms";
import { Button, ButtonLink, Card, ErrorNotice, Page, SectionTitle, SpacedRow, Stack } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router-dom";

import { FlowSteps } from "../flow/FlowSteps.tsx";
import { PhaseProgress } from "../flow/PhaseProgress.tsx";
import type { BackupDraft } from "./backup-draft.ts";
import { useProtect } from "./useProtect.ts";

interface ProcessingStepProps {
  readonly vault: Vault;
  readonly draft: BackupDraft;
}

const phases = ["picture", "passphrase", "sealing", "sending"] as const;

/** Route `/processing`: seals and publishes, with progress. A failure keeps the draft. */
export function ProcessingStep({ vault, draft }: ProcessingStepProps) {
  const { t } = useTranslation("processing");
  const navigate = useNavigate();
  const { operation, start } = useProtect(vault, draft);
  const { running, progress, error, asksOpener } = operation;
  const goBack = () => {
    void navigate(-1);
  };
  const stopped = !running && (asksOpener || error !== null);
  return (
    <Page
      title={t(stopped ? "page.stopped_title" : "page.protect_title")}
      lead={t(stopped ? "page.stopped_body" : "page.protect_body")}
    >
      <FlowSteps flow="backup" step="processing" />
      <Card>
        <Stack $gap={5}>
          {asksOpener ? (
            <>
              <SectionTitle>{t("opener.title")}</SectionTitle>
              <p>{t("opener.body")}</p>
              <OpenerPrompt vault={vault} operation={operation} label={t("opener.show_action")} />
            </>
          ) : error === null ? (
            <>
              <PhaseProgress phases={phases} progress={progress} />
              <SpacedRow>
                <Button tone="quiet" size="large" onClick={goBack}>
                  {t("page.cancel_action")}
                </Button>
              </SpacedRow>
            </>
          ) : (
            <>
              <ErrorNotice error={error} />
              <SpacedRow>
                <Button onClick={start}>{t("page.again_action")}</Button>
                <Button tone="quiet" onClick={goBack}>
                  {t("page.back_action")}
                </Button>
                {error.code.startsWith("picture_") && (
                  <ButtonLink tone="quiet" to="/provide-image" replace>
                    {t("page.picture_action")}
                  </ButtonLink>
                )}
              </SpacedRow>
            </>
          )}
        </Stack>
      </Card>
    </Page>
  );
}
