import { ButtonLink, Card, Page, SpacedRow, Stack } from "@relicario/shared/ui";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import type { PictureStanding } from "./picture-draft.ts";
import { JudgingPicker } from "./PicturePicker.tsx";

/** Tries a picture before anything is typed: is it good enough to protect something? */
export default function ProvideImagePage() {
  const { t } = useTranslation("provide-image");
  const [standing, setStanding] = useState<PictureStanding>({ status: "none" });
  return (
    <Page title={t("page.title")} lead={t("page.lead_body")}>
      <Card>
        <Stack $gap={5}>
          <JudgingPicker standing={standing} disabled={false} onChange={setStanding} />
          <SpacedRow>
            <ButtonLink to="/add-secret">{t("page.next_action")}</ButtonLink>
            <ButtonLink to="/home" tone="quiet">
              {t("page.home_action")}
            </ButtonLink>
          </SpacedRow>
        </Stack>
      </Card>
    </Page>
  );
}
