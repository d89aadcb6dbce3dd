import type { AccountResetStatus, Vault } from "@relicario/shared/contract";
import { useVaultOperation } from "@relicario/shared/forms";
import { Button, Card, ErrorNotice, Muted, SectionTitle, SpacedRow, Stack } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

interface CancelResetPanelProps {
  readonly vault: Vault;
  readonly title: string;
  readonly body: string;
  readonly onChanged: (status: AccountResetStatus) => void;
}

/**
 * Stops a requested reset: the person cancels their own request, or objects to one by somebody
 * else.
 */
export function CancelResetPanel({ vault, title, body, onChanged }: CancelResetPanelProps) {
  const { t } = useTranslation("start-anew");
  const { running, error, start } = useVaultOperation();
  const endReset = (reason: "cancelled" | "objected") => {
    start({ run: () => vault.accountReset.end(reason), onDone: onChanged });
  };
  return (
    <Card aria-labelledby="start-anew-asked">
      <Stack $gap={3}>
        <SectionTitle id="start-anew-asked">{title}</SectionTitle>
        <Muted>{body}</Muted>
        <Muted>{t("waiting.object_body")}</Muted>
        <ErrorNotice error={error} />
        <SpacedRow>
          <Button
            tone="danger"
            pending={running}
            onClick={() => {
              endReset("objected");
            }}
          >
            {t("waiting.object_action")}
          </Button>
          <Button
            tone="quiet"
            disabled={running}
            onClick={() => {
              endReset("cancelled");
            }}
          >
            {t("waiting.cancel_action")}
          </Button>
        </SpacedRow>
      </Stack>
    </Card>
  );
}
