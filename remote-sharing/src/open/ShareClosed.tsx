import { ButtonLink, EmptyState } from "@relicario/shared/ui";
import { LockKeyhole } from "lucide-react";
import { useTranslation } from "react-i18next";

/** Shown after the share was closed by its button or by a lock. */
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
