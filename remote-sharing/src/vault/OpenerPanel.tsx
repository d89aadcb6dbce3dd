import type { Vault } from "@relicario/shared/contract";
import { OperationProgress, FieldError } from "@relicario/shared/forms";
import { Button, ErrorNotice, s, SmallText, space, SpacedRow, useOpenerHandle } from "@relicario/shared/ui";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import type { OpenerOperation } from "./useOpenerOperation.ts";

interface OpenerPanelProps {
  readonly vault: Vault;
  readonly operation: OpenerOperation;
  /** Why a picture is asked for. */
  readonly reason: string;
  /** What goes on once it is shown. */
  readonly action: string;
}

/**
 * Where an act stands: the picture that it asks for, its progress, its failure. Nothing while there
 * is none.
 */
export function OpenerPanel({ vault, operation, reason, action }: OpenerPanelProps) {
  const { state } = operation;
  if (state.status === "idle") return null;
  if (state.status === "failed") return <ErrorNotice error={state.error} />;
  if (state.status === "running" && !state.isOpenerRequested)
    return state.progress === null ? null : <OperationProgress progress={state.progress} initialPhase="picture" />;
  return <OpenerPrompt vault={vault} operation={operation} reason={reason} action={action} />;
}

function OpenerPrompt({ vault, operation, reason, action }: OpenerPanelProps) {
  const { t } = useTranslation("beta-share");
  const { openerHandle, setOpenerHandle } = useOpenerHandle(vault);
  const [pictureMissing, setPictureMissing] = useState(false);
  const { state } = operation;
  const running = state.status === "running";
  return (
    <Panel role="group" aria-label={reason}>
      <SmallText>{reason}</SmallText>
      <vault.PictureField
        purpose="show"
        value={openerHandle}
        disabled={running}
        onChange={(value) => {
          setOpenerHandle(value);
          setPictureMissing(false);
        }}
      />
      {pictureMissing && <FieldError>{t("opener.missing_error")}</FieldError>}
      {state.status === "asking" && <ErrorNotice error={state.error} />}
      {running && <OperationProgress progress={state.progress} initialPhase="picture" />}
      <SpacedRow>
        <Button
          pending={running}
          onClick={() => {
            setPictureMissing(openerHandle === null);
            if (openerHandle !== null) operation.submitOpener(openerHandle);
          }}
        >
          {action}
        </Button>
        <Button tone="quiet" onClick={operation.cancel}>
          {t("opener.cancel_action")}
        </Button>
      </SpacedRow>
    </Panel>
  );
}

const Panel = styled.div`
  display: flex;
  flex-direction: column;
  gap: ${space(4)};
  padding: ${space(4)};
  border: 1px solid ${s("border")};
  border-radius: ${s("radius")};
`;
