import { Notice, Stack } from "@relicario/shared/ui";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";

interface WrongPictureNoticeProps {
  /** A passphrase was typed: it may be the wrong one. */
  readonly maybeWrongPassphrase: boolean;
}

/**
 * Says kindly that it did not open, what is promised, what is not, and that trying goes on. It
 * takes the focus, so that it is in sight.
 */
export function WrongPictureNotice({ maybeWrongPassphrase }: WrongPictureNoticeProps) {
  const { t } = useTranslation("image-recovery");
  const container = useRef<HTMLDivElement>(null);
  useEffect(() => {
    container.current?.focus(); // after the effects of the form below, which moves when its picture comes
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
