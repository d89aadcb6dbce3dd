import { ButtonLink, EmptyState, Page } from "@relicario/shared/ui";
import { FilePen } from "lucide-react";
import { useTranslation } from "react-i18next";

/** Changing a secret comes with a release of its own; until then this says what to do instead. */
export default function EditSecretPage() {
  const { t } = useTranslation("beta-add-secret");
  return (
    <Page title={t("edit.title")}>
      <EmptyState
        icon={<FilePen />}
        title={t("edit.subtitle")}
        actions={
          <>
            <ButtonLink to="/add-secret">{t("edit.anew_action")}</ButtonLink>
            <ButtonLink to="/secrets" tone="quiet">
              {t("edit.list_action")}
            </ButtonLink>
          </>
        }
      >
        <p>{t("edit.body")}</p>
      </EmptyState>
    </Page>
  );
}
