import { ButtonLink, Notice } from "@relicario/shared/ui";
import { LockOpen } from "lucide-react";
import { useTranslation } from "react-i18next";

interface UnlockNoticeProps {
  /** Where to come back to. */
  readonly then: string;
}

/** This device has not been unlocked: names are sealed, and a picture opens them. */
export function UnlockNotice({ then }: UnlockNoticeProps) {
  const { t } = useTranslation("beta-home");
  return (
    <Notice
      title={t("unlock.title")}
      actions={
        <ButtonLink to={`/provide-image-recovery?${new URLSearchParams({ then }).toString()}`} icon={<LockOpen aria-hidden />}>
          {t("unlock.picture_action")}
        </ButtonLink>
      }
    >
      {t("unlock.body")}
    </Notice>
  );
}
