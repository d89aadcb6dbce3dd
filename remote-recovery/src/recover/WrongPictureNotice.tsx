import { Notice, Stack } from "@relicario/shared/ui";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";

interface WrongPictureNoticeProps {
  /** A passphrase was typed and may be the wrong one. */
  readonly maybeWrongPassphrase: boolean;
}

/**
 * Says that the picture did not open the secret, which copies should work, and that trying again
 * does no harm. Takes the focus, so that it is in view.
 */
export function WrongPictureNotice({ maybeWrongPassphrase }: WrongPictureNoticeProps) {
  const { t } = useTranslation("image-recovery");
  const container = useRef<HTMLDivElement>(null);
  useEffect(() => {
    container.current?.focus(); // runs after the effects of the form below, which changes when its picture loads
  }, []);
  return (
    <div ref={container} tabIndex={-1}>
      <Notice tone="warn" role="alert" title={t(maybeWrongPassphrase ? "wrong.either_title" : "wrong.picture_title")}>
        <Stack $gap={2}>
          <p>{t(maybeWrongPassphrase ? "wrong.either_body" : "wrong.picture_body")}</p>
          <p>{t("wrong.promised_body")}</p>
          <p>{t("wrong.not_promised_body")}</p>
        </Stack>
      </Notice>
    </div>
  );
}
