import type { PictureFieldProps } from "@relicario/shared/contract";
import { Checkbox, FieldError, PasswordField, StrengthMeter } from "@relicario/shared/forms";
import { Stack } from "@relicario/shared/ui";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";

import { passphraseRequirement, type PictureDraft, type PictureState } from "./picture-draft.ts";
import { ExaminingPicturePicker, PicturePicker } from "./PicturePicker.tsx";

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
  const update = (changes: Partial<PictureDraft>) => {
    latest.current.onChange({ ...latest.current.draft, ...changes });
  };
  const pickerProps = {
    state: draft.state,
    disabled,
    onChange: (state: PictureState) => {
      update({ state, existingPassphrase: "" });
    },
    onSaved: () => {
      update({});
    },
  };
  const requirement = passphraseRequirement(draft.state);
  const needsNewPassphrase = requirement === "required" || (requirement === "asked" && !draft.withoutPassphrase);

  return (
    <Stack $gap={5}>
      {purpose === "choose" ? (
        <ExaminingPicturePicker {...pickerProps} />
      ) : (
        <PicturePicker purpose={purpose} {...pickerProps} />
      )}
      {error !== null && error !== "" && <FieldError>{error}</FieldError>}
      {requirement === "optional" && (
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
      {requirement === "own" && (
        <PasswordField
          label={t("passphrase.own_label")}
          hint={t("passphrase.own_hint")}
          value={draft.existingPassphrase}
          disabled={disabled}
          onChange={(event) => {
            update({ existingPassphrase: event.target.value });
          }}
        />
      )}
      {needsNewPassphrase && (
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
            value={draft.confirmation}
            disabled={disabled}
            error={
              draft.confirmation !== "" && !draft.passphrase.startsWith(draft.confirmation)
                ? t("passphrase.again_error")
                : null
            }
            onChange={(event) => {
              update({ confirmation: event.target.value });
            }}
          />
        </>
      )}
      {requirement === "asked" && (
        <Checkbox
          label={t("passphrase.without_label")}
          checked={draft.withoutPassphrase}
          disabled={disabled}
          onChange={(event) => {
            update({ withoutPassphrase: event.target.checked, passphrase: "", confirmation: "" });
          }}
        />
      )}
    </Stack>
  );
}
