import { ButtonLink, Notice } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

/**
 * Shown if this device's passkeys cannot derive keys. Lists other ways to admit the device, and
 * says that nothing has to be undone.
 */
export function PasskeyUnavailableNotice({ returnPath }: { readonly returnPath: string }) {
  const { t } = useTranslation("devices");
  return (
    <Notice
      tone="warn"
      role="alert"
      title={t("without.title")}
      actions={
        <ButtonLink to={`/provide-image-recovery?${new URLSearchParams({ then: returnPath }).toString()}`}>
          {t("without.picture_action")}
        </ButtonLink>
      }
    >
      <p>{t("without.body")}</p>
      <p>{t("without.other_body")}</p>
    </Notice>
  );
}
