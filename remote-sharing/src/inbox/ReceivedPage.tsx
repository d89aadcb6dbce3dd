import { ButtonLink, EmptyState, Page } from "@relicario/shared/ui";
import { Inbox } from "lucide-react";
import { useTranslation } from "react-i18next";

/** Route `/recived` ("Shared with me"). This release has no sharing, so the page only shows its empty state. */
export default function ReceivedPage() {
  const { t } = useTranslation("beta-share");
  return (
    <Page width="wide" title={t("received.title")}>
      <EmptyState icon={<Inbox />} title={t("received.empty_title")} actions={<ButtonLink to="/secrets">{t("received.list_action")}</ButtonLink>}>
        <p>{t("received.empty_body")}</p>
      </EmptyState>
    </Page>
  );
}
