import type { PictureFieldProps } from "@relicario/shared/contract";
import { Checkbox, FieldError, PasswordField, StrengthMeter } from "@relicario/shared/forms";
import { Stack } from "@relicario/shared/ui";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";

import { passphraseNeed, type PictureDraft, type PictureStanding } from "./picture-draft.ts";
import { JudgingPicker, PicturePicker } from "./PicturePicker.tsx";

interface PictureFormProps {
  readonly purpose: PictureFieldProps["purpose"];
  readonly draft: PictureDraft;
  readonly disabled: boolean;
  /** What went wrong with this picture, already in words. */
  readonly error: string | null;
  /** Also called with the same draft, once a picture that was taken here was saved. */
  readonly onChange: (draft: PictureDraft) => void;
}

/**
 * A picture and its passphrase, as whoever holds the draft has them. For screens of this area
 * alone.
 */
export function PictureForm({ purpose, draft, disabled, error, onChange }: PictureFormProps) {
  const { t } = useTranslation("provide-image");
  // A drive may answer long after the click that asked it: what was typed meanwhile stays.
  const latest = useRef({ draft, onChange });
  useEffect(() => {
    latest.current = { draft, onChange };
  });
  const update = (part: Partial<PictureDraft>) => {
    latest.current.onChange({ ...latest.current.draft, ...part });
  };
  const picking = {
    standing: draft.standing,
    disabled,
    onChange: (standing: PictureStanding) => {
      update({ standing, own: "" });
    },
    onSaved: () => {
      update({});
    },
  };
  const need = passphraseNeed(draft.standing);
  const choosing = need === "required" || (need === "asked" && !draft.without);

  return (
    <Stack $gap={5}>
      {purpose === "choose" ? <JudgingPicker {...picking} /> : <PicturePicker purpose={purpose} {...picking} />}
      {error !== null && error !== "" && <FieldError>{error}</FieldError>}
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
      {choosing && (
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
