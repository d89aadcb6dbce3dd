import type { Vault } from "@relicario/shared/contract";
import { Button, ButtonLink, Card, ErrorNotice, Page, SpacedRow, Stack } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router-dom";

import { FlowSteps } from "../flow/FlowSteps.tsx";
import { Phases } from "../flow/Phases.tsx";
import type { BackupDraft } from "./backup-draft.ts";
import { OpenerFirst } from "./OpenerFirst.tsx";
import { useProtecting } from "./useProtecting.ts";

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
  const { protecting, again } = useProtecting(vault, draft);
  const back = () => {
    void navigate(-1);
  };
  const failure = protecting.status === "failed" ? protecting.error : null;
  return (
    <Page
      title={t(failure === null ? "page.protect_title" : "page.stopped_title")}
      lead={t(failure === null ? "page.protect_body" : "page.stopped_body")}
    >
      <FlowSteps flow="backup" step="processing" />
      <Card>
        <Stack $gap={5}>
          {protecting.status === "running" ? (
            <>
              <Phases phases={phases} progress={protecting.progress} />
              <SpacedRow>
                <Button tone="quiet" size="large" onClick={back}>
                  {t("page.cancel_action")}
                </Button>
              </SpacedRow>
            </>
          ) : protecting.error.code === "show_opener_first" ? (
            <OpenerFirst vault={vault} onShown={again} />
          ) : (
            <>
              <ErrorNotice error={protecting.error} />
              <SpacedRow>
                <Button onClick={again}>{t("page.again_action")}</Button>
                <Button tone="quiet" onClick={back}>
                  {t("page.back_action")}
                </Button>
                {protecting.error.code.startsWith("picture_") && (
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
