import type { ResealedSecrets, OpenersOverview, Vault } from "@relicario/shared/contract";
import { Button, Card, Muted, Notice, SectionTitle, SpacedRow, Stack } from "@relicario/shared/ui";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { focusOnMount } from "../flow/focus-on-mount.ts";
import { OpenerOperationForm } from "./OpenerOperationForm.tsx";

interface ResealPanelProps {
  readonly vault: Vault;
  readonly overview: OpenersOverview;
  readonly onChanged: () => void;
}

/**
 * Re-seals secrets that some openers do not open yet, so that all openers open them. A stopped run
 * keeps its finished secrets.
 */
export function ResealPanel({ vault, overview, onChanged }: ResealPanelProps) {
  const { t } = useTranslation("openers");
  const [phase, setPhase] = useState<"asking" | "left" | null>(null);
  const [result, setResult] = useState<ResealedSecrets | null>(null);
  const incompleteCount = overview.secrets.filter(({ missingOpenerIds }) => missingOpenerIds.length > 0).length;
  const handleStart = () => {
    setResult(null);
    setPhase("asking");
  };
  const handleDone = (resealed: ResealedSecrets) => {
    setResult(resealed);
    setPhase(null);
    onChanged();
  };
  const handleCancel = () => {
    setPhase("left");
    onChanged();
  };
  return (
    <>
      {result !== null && (
        <div ref={focusOnMount} tabIndex={-1}>
          <Notice tone={result.skippedIds.length === 0 ? "success" : "warn"} role="status">
            {t("cover.done_status", { count: result.resealedCount })}{" "}
            {result.skippedIds.length > 0 && t("cover.left_body", { count: result.skippedIds.length })}
          </Notice>
        </div>
      )}
      {incompleteCount > 0 && (
        <Card aria-labelledby="openers-cover">
          <Stack $gap={3}>
            <SectionTitle id="openers-cover">{t("cover.title", { count: incompleteCount })}</SectionTitle>
            <Muted>{t("cover.body")}</Muted>
            {phase === "asking" ? (
              <div ref={focusOnMount} tabIndex={-1}>
                <OpenerOperationForm
                  vault={vault}
                  label={t("cover.seal_action")}
                  runOperation={(openerHandle, options) => vault.openers.resealForAllOpeners(openerHandle, options)}
                  onDone={handleDone}
                  onCancel={handleCancel}
                />
              </div>
            ) : (
              <SpacedRow>
                <Button ref={phase === "left" ? focusOnMount : null} onClick={handleStart}>
                  {t("cover.begin_action")}
                </Button>
              </SpacedRow>
            )}
          </Stack>
        </Card>
      )}
    </>
  );
}
