import type { CoveredSecrets, OpenersOverview, Vault } from "@relicario/shared/contract";
import { Button, Card, Muted, Notice, SectionTitle, SpacedRow, Stack } from "@relicario/shared/ui";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { takeFocus } from "../flow/take-focus.ts";
import { ShowToAct } from "./ShowToAct.tsx";

interface CoverPanelProps {
  readonly vault: Vault;
  readonly overview: OpenersOverview;
  readonly onChanged: () => void;
}

/**
 * Seals what some openers do not open yet to all of them, in one go. What was done before it
 * stopped stays done.
 */
export function CoverPanel({ vault, overview, onChanged }: CoverPanelProps) {
  const { t } = useTranslation("openers");
  const [state, setState] = useState<"asking" | "left" | null>(null);
  const [covered, setCovered] = useState<CoveredSecrets | null>(null);
  const uncovered = overview.secrets.filter(({ missing }) => missing.length > 0).length;
  const handleBegin = () => {
    setCovered(null);
    setState("asking");
  };
  const handleDone = (done: CoveredSecrets) => {
    setCovered(done);
    setState(null);
    onChanged();
  };
  const handleCancel = () => {
    setState("left");
    onChanged();
  };
  return (
    <>
      {covered !== null && (
        <div ref={takeFocus} tabIndex={-1}>
          <Notice tone={covered.left.length === 0 ? "success" : "warn"} role="status">
            {t("cover.done_status", { count: covered.covered })}{" "}
            {covered.left.length > 0 && t("cover.left_body", { count: covered.left.length })}
          </Notice>
        </div>
      )}
      {uncovered > 0 && (
        <Card aria-labelledby="openers-cover">
          <Stack $gap={3}>
            <SectionTitle id="openers-cover">{t("cover.title", { count: uncovered })}</SectionTitle>
            <Muted>{t("cover.body")}</Muted>
            {state === "asking" ? (
              <div ref={takeFocus} tabIndex={-1}>
                <ShowToAct
                  vault={vault}
                  label={t("cover.seal_action")}
                  act={(shown, options) => vault.openers.cover(shown, options)}
                  onDone={handleDone}
                  onCancel={handleCancel}
                />
              </div>
            ) : (
              <SpacedRow>
                <Button ref={state === "left" ? takeFocus : null} onClick={handleBegin}>
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
