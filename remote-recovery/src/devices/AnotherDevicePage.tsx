import {
  ButtonLink,
  Card,
  EmptyState,
  ErrorNotice,
  Muted,
  Page,
  SectionTitle,
  Skeleton,
  SpacedRow,
  Stack,
  useVault,
  useVaultState,
} from "@relicario/shared/ui";
import { KeyRound } from "lucide-react";
import { useTranslation } from "react-i18next";

import { VaultRefresh } from "../flow/VaultRefresh.tsx";
import { AdmitDevice } from "./AdmitDevice.tsx";

/** Route `/another-device`: this device opens the account and admits a new one. */
export default function AnotherDevicePage() {
  const { t } = useTranslation(["devices", "openers"]); // loads both, so that later steps do not wait for texts
  const access = useVault();
  const state = useVaultState(access);
  return (
    <Page title={t("at_hand.title")} lead={t("at_hand.lead_body")}>
      {access.status === "loading" && <Skeleton height="240px" />}
      {access.status === "failed" && <ErrorNotice error={access.error} onRetry={access.retry} />}
      {access.status === "ready" && state.status === "unknown" && <VaultRefresh vault={access.vault} />}
      {state.status === "empty" && (
        <EmptyState icon={<KeyRound />} title={t("new.empty_title")}>
          <p>{t("at_hand.empty_body")}</p>
        </EmptyState>
      )}
      {state.status === "locked" && (
        <Card aria-labelledby="at-hand-locked">
          <Stack $gap={3}>
            <SectionTitle id="at-hand-locked">{t("at_hand.locked_title")}</SectionTitle>
            <Muted>{t("at_hand.locked_body")}</Muted>
            <SpacedRow>
              <ButtonLink to="/provide-image-recovery?then=%2Fanother-device">{t("at_hand.unlock_action")}</ButtonLink>
              <ButtonLink tone="quiet" to="/new-device?then=%2Fopeners">
                {t("at_hand.this_new_action")}
              </ButtonLink>
            </SpacedRow>
          </Stack>
        </Card>
      )}
      {access.status === "ready" && state.status === "unlocked" && <AdmitDevice vault={access.vault} />}
    </Page>
  );
}
