import { ButtonLink, EmptyState } from "@relicario/shared/ui";
import { LockKeyhole } from "lucide-react";
import { useTranslation } from "react-i18next";

/** It was open here. The key of the link is gone from this page, too. */
export function ShareClosed() {
  const { t } = useTranslation("beta-recover-share");
  return (
    <EmptyState
      icon={<LockKeyhole />}
      title={t("put_away.title")}
      actions={<ButtonLink to="/home">{t("open.home_action")}</ButtonLink>}
    >
      <p>{t("put_away.body")}</p>
    </EmptyState>
  );
}
