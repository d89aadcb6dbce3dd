import { ButtonLink, EmptyState, Page } from "@relicario/shared/ui";
import { Link2Off } from "lucide-react";
import { useTranslation } from "react-i18next";

/** A link to something shared. This release cannot open it: nothing is asked of the service, so the link loses nothing. */
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
