import {
  ButtonLink,
  Card,
  ErrorNotice,
  Muted,
  SectionTitle,
  SpacedRow,
  Stack,
  useVault,
  useVaultState,
} from "@relicario/shared/ui";
import { Download, LockOpen } from "lucide-react";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";

import { SettingsFrame } from "../frame/SettingsFrame.tsx";
import { ImportPanel } from "./ImportPanel.tsx";
import { TelemetryCard } from "./TelemetryCard.tsx";

/**
 * Route `/settings/data`: export, usage measurements, import. The import is last, because it
 * depends on the vault and grows while entries are shown.
 */
export default function DataPage() {
  const { t } = useTranslation("settings-data");
  const access = useVault();
  const state = useVaultState(access);
  const { status } = state;
  const vault = access.status === "ready" ? access.vault : null;
  useEffect(() => {
    if (status === "unknown") vault?.refresh().catch(() => undefined); // operations show the error
  }, [vault, status]);
  return (
    <SettingsFrame page="data">
      <Stack $gap={5}>
        {access.status === "failed" && <ErrorNotice error={access.error} onRetry={access.retry} />}
        <Card>
          <Stack $gap={3}>
            <SectionTitle>{t("export.title")}</SectionTitle>
            <Muted>{t("export.body")}</Muted>
            <SpacedRow>
              <ButtonLink to="/secrets?export=all" icon={<Download aria-hidden />}>
                {t("export.action")}
              </ButtonLink>
            </SpacedRow>
          </Stack>
        </Card>
        <TelemetryCard />
        {vault !== null && (status === "unlocked" || status === "empty") && (
          <ImportPanel
            vault={vault}
            isFirstImport={status === "empty"}
            needsDeviceAnswer={state.status === "unlocked" && state.device === null}
          />
        )}
        {status === "locked" && (
          <Card>
            <Stack $gap={3}>
              <SectionTitle>{t("import.locked_title")}</SectionTitle>
              <Muted>{t("import.locked_body")}</Muted>
              <SpacedRow>
                <ButtonLink to="/provide-image-recovery?then=%2Fsettings%2Fdata" icon={<LockOpen aria-hidden />}>
                  {t("import.unlock_action")}
                </ButtonLink>
              </SpacedRow>
            </Stack>
          </Card>
        )}
      </Stack>
    </SettingsFrame>
  );
}
