import { usePortal, type NewSecretInput, type Vault, type VaultState } from "@relicario/shared/contract";
import { FieldError } from "@relicario/shared/forms";
import { Button, SpacedRow, Stack, useOpenerHandle } from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { imagesQuery } from "../data/secrets.ts";
import type { OpenerReason } from "./useUploadActions.ts";

interface UploadOpenerPromptProps {
  readonly vault: Vault;
  readonly status: VaultState["status"];
  /** Title of the upload, as it is shown. */
  readonly title: string;
  readonly reason: OpenerReason;
  /** It goes on already, with the picture. */
  readonly busy: boolean;
  readonly onSubmit: (protection: NewSecretInput["protection"]) => void;
}

/**
 * Asks for the picture without which an upload is not published. Nothing is unlocked for it: there
 * may be no account yet.
 *
 * After `opener_needed` the picture can become an opener, so it is chosen: judged, and a passphrase
 * is typed twice. One that is only shown would begin an account under a passphrase that was
 * mistyped. After `show_opener_first` none but an opener in use will do.
 */
export function UploadOpenerPrompt({ vault, status, title, reason, busy, onSubmit }: UploadOpenerPromptProps) {
  const { t } = useTranslation("file-upload");
  const { user } = usePortal();
  const { data: images = [] } = useQuery(imagesQuery(vault, user.userId, status));
  const { openerHandle, setOpenerHandle } = useOpenerHandle(vault);
  const [pictureMissing, setPictureMissing] = useState(false);
  const bodyRef = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    bodyRef.current?.focus(); // the button that was clicked is gone
  }, []);
  const handleShow = () => {
    setPictureMissing(openerHandle === null);
    if (openerHandle !== null)
      onSubmit({
        kind: "picture",
        picture: openerHandle,
        name: t("waiting.opener_name_body", { number: images.length + 1 }),
      });
  };
  return (
    <Stack $gap={4} role="group" aria-label={t("waiting.opener_aria", { title })}>
      <p ref={bodyRef} tabIndex={-1}>
        {t(`waiting.${reason}_body`)}
      </p>
      <vault.PictureField
        key={reason}
        purpose={reason === "opener_needed" ? "choose" : "show"}
        pictureOnly
        value={openerHandle}
        disabled={busy}
        onChange={setOpenerHandle}
      />
      {pictureMissing && openerHandle === null && <FieldError>{t("waiting.opener_missing_error")}</FieldError>}
      <SpacedRow>
        <Button
          size="small"
          pending={busy}
          aria-label={t("waiting.named_aria", { action: t("waiting.opener_action"), title })}
          onClick={handleShow}
        >
          {t("waiting.opener_action")}
        </Button>
      </SpacedRow>
    </Stack>
  );
}
