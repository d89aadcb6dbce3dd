import { ButtonLink, EmptyState, Page } from "@relicario/shared/ui";
import { Inbox } from "lucide-react";
import { useTranslation } from "react-i18next";

/** Shared with me. Sharing comes with its own release; until then nothing can arrive, and this says so. */
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
