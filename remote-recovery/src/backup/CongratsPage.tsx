import { ButtonLink, Card, Muted, Page, SectionTitle, SpacedRow, Stack, useVault, useVaultState } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";
import { useSearchParams } from "react-router-dom";

import { KeepTaken } from "../picture/KeepTaken.tsx";
import { useTaken } from "../picture/taken-picture.ts";
import { DeviceQuestion } from "../recover/DeviceQuestion.tsx";

/** After protecting with a new picture (`?secret=` names what was protected): what to do now. */
export default function CongratsPage() {
  const { t } = useTranslation(["congrats", "provide-image"]);
  const [query] = useSearchParams();
  const secretId = query.get("secret");
  const taken = useTaken();
  const access = useVault();
  const state = useVaultState(access);
  return (
    <Page title={t("page.title")} lead={t("page.lead_body")}>
      {access.status === "ready" && state.status === "unlocked" && state.device === null && <DeviceQuestion vault={access.vault} />}
      {taken !== null && <KeepTaken picture={taken} />}
      <Card aria-labelledby="congrats-keep">
        <Stack $gap={3}>
          <SectionTitle id="congrats-keep">{t("keep.title")}</SectionTitle>
          <Muted>{t("keep.body")}</Muted>
          <SpacedRow>
            <ButtonLink tone="quiet" to="/safeguard">
              {t("keep.safeguard_action")}
            </ButtonLink>
          </SpacedRow>
        </Stack>
      </Card>
      {secretId !== null && (
        <Card aria-labelledby="congrats-try">
          <Stack $gap={3}>
            <SectionTitle id="congrats-try">{t("try.title")}</SectionTitle>
            <Muted>{t("try.body")}</Muted>
            <SpacedRow>
              <ButtonLink tone="quiet" to={`/provide-image-recovery?${new URLSearchParams({ secret: secretId }).toString()}`}>
                {t("try.now_action")}
              </ButtonLink>
            </SpacedRow>
          </Stack>
        </Card>
      )}
      <SpacedRow>
        <ButtonLink to="/secrets">{t("page.list_action")}</ButtonLink>
      </SpacedRow>
    </Page>
  );
}
