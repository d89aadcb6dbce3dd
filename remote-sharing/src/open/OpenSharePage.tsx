import { ButtonLink, EmptyState, Page } from "@relicario/shared/ui";
import { Link2Off } from "lucide-react";
import { useTranslation } from "react-i18next";

/** Routes of share links. This release cannot open them, and calls no endpoint, so a one-time link is not used up. */
export default function OpenSharePage() {
  const { t } = useTranslation("beta-recover-share");
  return (
    <Page title={t("open.title")}>
      <EmptyState
        icon={<Link2Off />}
        title={t("open.not_yet_title")}
        actions={
          <>
            <ButtonLink to="/home">{t("open.home_action")}</ButtonLink>
            <ButtonLink to="/secret-landing" tone="quiet">
              {t("open.landing_action")}
            </ButtonLink>
          </>
        }
      >
        <p>{t("open.not_yet_body")}</p>
      </EmptyState>
    </Page>
  );
}
