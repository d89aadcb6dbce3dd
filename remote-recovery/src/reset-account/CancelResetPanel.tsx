import type { AccountResetStatus, Vault } from "@relicario/shared/contract";
import { Button, Card, ErrorNotice, Muted, SectionTitle, SpacedRow, Stack } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

import { useOperation } from "./useOperation.ts";

interface CancelResetPanelProps {
  readonly vault: Vault;
  readonly title: string;
  readonly body: string;
  readonly onChanged: (status: AccountResetStatus) => void;
}

/**
 * Somebody asked to start anew: what can be done about it, by whoever it was and by whoever it was
 * not.
 */
export function CancelResetPanel({ vault, title, body, onChanged }: CancelResetPanelProps) {
  const { t } = useTranslation("start-anew");
  const { busy, error, run } = useOperation(onChanged);
  return (
    <Card aria-labelledby="start-anew-asked">
      <Stack $gap={3}>
        <SectionTitle id="start-anew-asked">{title}</SectionTitle>
        <Muted>{body}</Muted>
        <Muted>{t("waiting.object_body")}</Muted>
        <ErrorNotice error={error} />
        <SpacedRow>
          <Button tone="danger" pending={busy} onClick={() => void run(() => vault.accountReset.end("objected"))}>
            {t("waiting.object_action")}
          </Button>
          <Button tone="quiet" disabled={busy} onClick={() => void run(() => vault.accountReset.end("cancelled"))}>
            {t("waiting.cancel_action")}
          </Button>
        </SpacedRow>
      </Stack>
    </Card>
  );
}
