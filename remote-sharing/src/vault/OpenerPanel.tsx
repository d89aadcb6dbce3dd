import type { Vault } from "@relicario/shared/contract";
import { ActProgress, FieldError } from "@relicario/shared/forms";
import { Button, ErrorNotice, s, SmallText, space, SpacedRow, useShownImage } from "@relicario/shared/ui";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import type { OpenerAct } from "./useOpenerAct.ts";

interface OpenerPanelProps {
  readonly vault: Vault;
  readonly act: OpenerAct;
  /** Why a picture is asked for. */
  readonly reason: string;
  /** What goes on once it is shown. */
  readonly action: string;
}

/**
 * Where an act stands: the picture that it asks for, its progress, its failure. Nothing while there
 * is none.
 */
export function OpenerPanel({ vault, act, reason, action }: OpenerPanelProps) {
  const { state } = act;
  if (state.status === "idle") return null;
  if (state.status === "failed") return <ErrorNotice error={state.error} />;
  if (state.status === "running" && !state.asked)
    return state.progress === null ? null : <ActProgress progress={state.progress} first="picture" />;
  return <AskForOpener vault={vault} act={act} reason={reason} action={action} />;
}

function AskForOpener({ vault, act, reason, action }: OpenerPanelProps) {
  const { t } = useTranslation("beta-share");
  const { shown, setShown } = useShownImage(vault);
  const [missing, setMissing] = useState(false);
  const { state } = act;
  const running = state.status === "running";
  return (
    <Panel role="group" aria-label={reason}>
      <SmallText>{reason}</SmallText>
      <vault.PictureField
        purpose="show"
        value={shown}
        disabled={running}
        onChange={(value) => {
          setShown(value);
          setMissing(false);
        }}
      />
      {missing && <FieldError>{t("opener.missing_error")}</FieldError>}
      {state.status === "asking" && <ErrorNotice error={state.error} />}
      {running && <ActProgress progress={state.progress} first="picture" />}
      <SpacedRow>
        <Button
          pending={running}
          onClick={() => {
            setMissing(shown === null);
            if (shown !== null) act.show(shown);
          }}
        >
          {action}
        </Button>
        <Button tone="quiet" onClick={act.cancel}>
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
