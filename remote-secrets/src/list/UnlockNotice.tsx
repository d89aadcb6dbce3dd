import { ButtonLink, Notice } from "@relicario/shared/ui";
import { LockOpen } from "lucide-react";
import { useTranslation } from "react-i18next";

interface UnlockNoticeProps {
  /** Where to come back to. */
  readonly then: string;
  /** `read`: names are sealed. `add`: what is new has to fit what is there. */
  readonly reason?: "read" | "add";
}

/** This device has not been unlocked: a picture does it. */
export function UnlockNotice({ then, reason = "read" }: UnlockNoticeProps) {
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
      {t(`unlock.${reason}_body`)}
    </Notice>
  );
}
