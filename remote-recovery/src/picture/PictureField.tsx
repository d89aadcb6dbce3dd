import { usePortal, type PictureFieldProps } from "@relicario/shared/contract";
import { Checkbox, FieldError, PasswordField, StrengthMeter } from "@relicario/shared/forms";
import { Skeleton, Stack } from "@relicario/shared/ui";
import { forgetShown, showPicture, shownPicture } from "@relicario/vault/shown-image";
import { Suspense, useEffect, useEffectEvent, useState } from "react";
import { useTranslation } from "react-i18next";

import { imageOf, noPicture, passphraseNeed, shownPictureOf, type PictureDraft } from "./picture-draft.ts";
import { PicturePicker } from "./PicturePicker.tsx";

/**
 * Chooses or drops a picture, judges it, asks for its passphrase. Drawn inside the forms of other remotes: it relies on
 * nothing but the portal, the texts and the theme, and gives them a handle in place of what it holds.
 */
export function PictureField(props: PictureFieldProps) {
  return (
    <Suspense fallback={<Skeleton height={props.purpose === "choose" ? "560px" : "200px"} />}>
      <LoadedPictureField {...props} />
    </Suspense>
  );
}

function LoadedPictureField({ purpose, value, onChange, onKnown, disabled = false, error }: PictureFieldProps) {
  const { t } = useTranslation("provide-image");
  const portal = usePortal();
  const [draft, setDraft] = useState<PictureDraft>(() => {
    const before = value === null ? null : shownPicture(value);
    if (before === null) return noPicture;
    return { ...noPicture, standing: purpose === "show" ? { status: "shown", picture: before.picture } : { status: "none" }, passphrase: before.passphrase ?? "" };
  });
  const change = (next: PictureDraft) => {
    setDraft(next);
    if (value !== null) forgetShown(value);
    const shown = shownPictureOf(next);
    onChange(shown === null ? null : showPicture(shown));
    onKnown?.(imageOf(next.standing));
  };
  const update = (part: Partial<PictureDraft>) => {
    change({ ...draft, ...part });
  };
  // The vault forgets every handle: what it stood for goes from the screen, too.
  const handleLock = useEffectEvent(() => {
    change(noPicture);
  });
  useEffect(() => portal.onLock(() => { handleLock(); }), [portal]);
  const need = passphraseNeed(draft.standing);
  const choosing = need === "asked" || need === "required";

  return (
    <Stack $gap={5}>
      <PicturePicker
        purpose={purpose}
        standing={draft.standing}
        disabled={disabled}
        onChange={(standing) => {
          update({ standing, own: "" });
        }}
      />
      {error != null && error !== "" && <FieldError>{error}</FieldError>}
      {need === "optional" && (
        <PasswordField
          label={t("passphrase.show_label")}
          hint={t("passphrase.show_hint")}
          value={draft.passphrase}
          disabled={disabled}
          onChange={(event) => {
            update({ passphrase: event.target.value });
          }}
        />
      )}
      {need === "own" && (
        <PasswordField
          label={t("passphrase.own_label")}
          hint={t("passphrase.own_hint")}
          value={draft.own}
          disabled={disabled}
          onChange={(event) => {
            update({ own: event.target.value });
          }}
        />
      )}
      {choosing && !draft.without && (
        <>
          <PasswordField
            label={t("passphrase.choose_label")}
            hint={t("passphrase.choose_hint")}
            value={draft.passphrase}
            disabled={disabled}
            onChange={(event) => {
              update({ passphrase: event.target.value });
            }}
          />
          <StrengthMeter passphrase={draft.passphrase} />
          <PasswordField
            label={t("passphrase.again_label")}
            value={draft.again}
            disabled={disabled}
            error={draft.again !== "" && !draft.passphrase.startsWith(draft.again) ? t("passphrase.again_error") : null}
            onChange={(event) => {
              update({ again: event.target.value });
            }}
          />
        </>
      )}
      {need === "asked" && (
        <Checkbox
          label={t("passphrase.without_label")}
          checked={draft.without}
          disabled={disabled}
          onChange={(event) => {
            update({ without: event.target.checked, passphrase: "", again: "" });
          }}
        />
      )}
    </Stack>
  );
}
