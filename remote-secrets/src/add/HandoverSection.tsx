import { usePortal, type PortalHandover } from "@relicario/shared/contract";
import { FieldError } from "@relicario/shared/forms";
import { Button, markVerbatim, Muted, renderVerbatim, SpacedRow, Stack } from "@relicario/shared/ui";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { receiveHandover, type HandedOverSecret, type HandoverOutcome } from "./receive-handover.ts";

interface HandoverSectionProps {
  /** Whether the form is untouched, so that nothing typed is overwritten. */
  readonly offered: boolean;
  readonly disabled: boolean;
  /** Called with whether an application's window is open: the form then takes no input. */
  readonly onWait: (waiting: boolean) => void;
  readonly onReceive: (secret: HandedOverSecret) => void;
}

interface Handover {
  readonly name: string;
  /** Null while the application's window is open. */
  readonly outcome: HandoverOutcome["kind"] | null;
}

/** Gets a secret from another application that the deployment names. Else shows nothing. */
export function HandoverSection({ offered, disabled, onWait, onReceive }: HandoverSectionProps) {
  const { t } = useTranslation("beta-add-secret");
  const { vendor } = usePortal();
  const [handover, setHandover] = useState<Handover | null>(null);
  const controller = useRef<AbortController | null>(null);
  useEffect(
    () => () => {
      controller.current?.abort();
    },
    [],
  );
  const handleOpen = async (application: PortalHandover) => {
    const { name } = application;
    const { signal } = (controller.current = new AbortController());
    setHandover({ name, outcome: null });
    onWait(true);
    const outcome = await receiveHandover(application, signal);
    onWait(false);
    if (outcome.kind === "received" && !signal.aborted) onReceive(outcome.secret);
    setHandover(signal.aborted ? null : { name, outcome: outcome.kind });
  };
  const isWaiting = handover?.outcome === null;
  const { handovers = [] } = vendor;
  if (handovers.length === 0) return null;
  return (
    <Stack $gap={3}>
      {offered && !isWaiting && (
        <SpacedRow $align="start">
          {handovers.map((application) => (
            <Button
              key={application.url}
              tone="quiet"
              disabled={disabled}
              onClick={() => {
                void handleOpen(application);
              }}
            >
              {renderVerbatim(t("handover.open_action", { name: markVerbatim(application.name) }))}
            </Button>
          ))}
        </SpacedRow>
      )}
      <div role="status">
        {handover !== null && (handover.outcome === null || handover.outcome === "received") && (
          <Muted>
            {renderVerbatim(
              t(`handover.${handover.outcome ?? "waiting"}_status`, { name: markVerbatim(handover.name) }),
            )}
          </Muted>
        )}
      </div>
      {isWaiting && (
        <div>
          <Button tone="quiet" onClick={() => controller.current?.abort()}>
            {t("save.cancel_action")}
          </Button>
        </div>
      )}
      {(handover?.outcome === "blocked" || handover?.outcome === "nothing" || handover?.outcome === "invalid") && (
        <FieldError>
          {renderVerbatim(t(`handover.${handover.outcome}_error`, { name: markVerbatim(handover.name) }))}
        </FieldError>
      )}
    </Stack>
  );
}
