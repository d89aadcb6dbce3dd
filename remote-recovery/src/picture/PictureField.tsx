import type { PictureFieldProps } from "@relicario/shared/contract";
import { Checkbox, FieldError, PasswordField } from "@relicario/shared/forms";
import { Skeleton, Stack } from "@relicario/shared/ui";
import { Suspense, useState } from "react";
import { useTranslation } from "react-i18next";

import { passphraseNeed, shownImageOf, type PictureDraft } from "./picture-draft.ts";
import { PicturePicker } from "./PicturePicker.tsx";
import { StrengthMeter } from "./StrengthMeter.tsx";

/**
 * Chooses or drops a picture, judges it, asks for its passphrase. Drawn inside the forms of other remotes: it relies on
 * nothing but the portal, the texts and the theme.
 */
export function PictureField(props: PictureFieldProps) {
  return (
    <Suspense fallback={<Skeleton height={props.purpose === "choose" ? "560px" : "200px"} />}>
      <LoadedPictureField {...props} />
    </Suspense>
  );
}

function LoadedPictureField({ purpose, value, onChange, disabled = false, error }: PictureFieldProps) {
  const { t } = useTranslation("provide-image");
  const [draft, setDraft] = useState<PictureDraft>(() => ({
    standing: value !== null && purpose === "show" ? { status: "shown", picture: value.picture } : { status: "none" },
    passphrase: value?.passphrase ?? "",
    again: "",
    without: false,
  }));
  const update = (change: Partial<PictureDraft>) => {
    const next = { ...draft, ...change };
    setDraft(next);
    onChange(shownImageOf(next));
  };
  const need = passphraseNeed(draft.standing);
  const choosing = need === "asked" || need === "required";

  return (
    <Stack $gap={5}>
      <PicturePicker
        purpose={purpose}
        standing={draft.standing}
        disabled={disabled}
        onChange={(standing) => {
          update({ standing });
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
