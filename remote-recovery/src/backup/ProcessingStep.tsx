import type { Vault } from "@relicario/shared/contract";
import { Button, ButtonLink, Card, ErrorNotice, Page, SpacedRow, Stack } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router-dom";

import { FlowSteps } from "../flow/FlowSteps.tsx";
import { PhaseProgress } from "../flow/PhaseProgress.tsx";
import type { BackupDraft } from "./backup-draft.ts";
import { OpenerPrompt } from "./OpenerPrompt.tsx";
import { useProtect } from "./useProtect.ts";

interface ProcessingStepProps {
  readonly vault: Vault;
  readonly draft: BackupDraft;
}

const phases = ["picture", "passphrase", "sealing", "sending"] as const;

/**
 * Route `/processing`: seals and publishes, and says what is being done. What fails leaves the
 * draft as it is.
 */
export function ProcessingStep({ vault, draft }: ProcessingStepProps) {
  const { t } = useTranslation("processing");
  const navigate = useNavigate();
  const { protectState, retry } = useProtect(vault, draft);
  const back = () => {
    void navigate(-1);
  };
  const failure = protectState.status === "failed" ? protectState.error : null;
  return (
    <Page
      title={t(failure === null ? "page.protect_title" : "page.stopped_title")}
      lead={t(failure === null ? "page.protect_body" : "page.stopped_body")}
    >
      <FlowSteps flow="backup" step="processing" />
      <Card>
        <Stack $gap={5}>
          {protectState.status === "running" ? (
            <>
              <PhaseProgress phases={phases} progress={protectState.progress} />
              <SpacedRow>
                <Button tone="quiet" size="large" onClick={back}>
                  {t("page.cancel_action")}
                </Button>
              </SpacedRow>
            </>
          ) : protectState.error.code === "show_opener_first" ? (
            <OpenerPrompt vault={vault} onUnlocked={retry} />
          ) : (
            <>
              <ErrorNotice error={protectState.error} />
              <SpacedRow>
                <Button onClick={retry}>{t("page.again_action")}</Button>
                <Button tone="quiet" onClick={back}>
                  {t("page.back_action")}
                </Button>
                {protectState.error.code.startsWith("picture_") && (
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
