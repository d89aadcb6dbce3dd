import type { StartAnewStatus, Vault } from "@relicario/shared/contract";
import { Button, Card, ErrorNotice, Muted, SectionTitle, SpacedRow, Stack } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

import { useAct } from "./useAct.ts";

interface EndPanelProps {
  readonly vault: Vault;
  readonly title: string;
  readonly body: string;
  readonly onChanged: (status: StartAnewStatus) => void;
}

/**
 * Somebody asked to start anew: what can be done about it, by whoever it was and by whoever it was
 * not.
 */
export function EndPanel({ vault, title, body, onChanged }: EndPanelProps) {
  const { t } = useTranslation("start-anew");
  const { busy, error, run } = useAct(onChanged);
  return (
    <Card aria-labelledby="start-anew-asked">
      <Stack $gap={3}>
        <SectionTitle id="start-anew-asked">{title}</SectionTitle>
        <Muted>{body}</Muted>
        <Muted>{t("waiting.object_body")}</Muted>
        <ErrorNotice error={error} />
        <SpacedRow>
          <Button tone="danger" pending={busy} onClick={() => void run(() => vault.startAnew.end("objected"))}>
            {t("waiting.object_action")}
          </Button>
          <Button tone="quiet" disabled={busy} onClick={() => void run(() => vault.startAnew.end("cancelled"))}>
            {t("waiting.cancel_action")}
          </Button>
        </SpacedRow>
      </Stack>
    </Card>
  );
}
