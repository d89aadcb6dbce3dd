import type { PictureFieldProps } from "@relicario/shared/contract";
import { Checkbox, PasswordField, ProposedPassphrase, StrengthMeter, useStrength } from "@relicario/shared/forms";
import { Stack } from "@relicario/shared/ui";
import type { ExaminePicture } from "@relicario/vault/element";
import { useEffect, useEffectEvent, useLayoutEffect, useRef } from "react";
import { useTranslation } from "react-i18next";

import {
  getLeastStrength,
  getPassphraseRequirement,
  isTooWeak,
  type PictureDraft,
  type PictureState,
} from "./picture-draft.ts";
import { PicturePicker } from "./PicturePicker.tsx";

interface PictureFormProps {
  readonly purpose: PictureFieldProps["purpose"];
  readonly draft: PictureDraft;
  readonly disabled: boolean;
  /** Null for a visitor, who chooses no picture to protect with. */
  readonly examine: ExaminePicture | null;
  /** Also called with an unchanged draft after a captured picture was saved. */
  readonly onChange: (draft: PictureDraft) => void;
}

/** Controlled form for a picture and its passphrase. */
export function PictureForm({ purpose, draft, disabled, examine, onChange }: PictureFormProps) {
  const { t } = useTranslation("provide-image");
  // A download from a drive or an estimate may end between two changes of the person: keep both.
  const latest = useRef({ draft, onChange });
  useLayoutEffect(() => {
    latest.current = { draft, onChange };
  });
  const update = (changes: Partial<PictureDraft>) => {
    latest.current.draft = { ...latest.current.draft, ...changes }; // before it is rendered
    latest.current.onChange(latest.current.draft);
  };
  const requirement = getPassphraseRequirement(draft.state);
  const needsNewPassphrase = requirement === "required" || (requirement === "asked" && !draft.withoutPassphrase);

  return (
    <Stack $gap={5}>
      <PicturePicker
        purpose={purpose}
        state={draft.state}
        disabled={disabled}
        examine={examine}
        onChange={(state: PictureState) => {
          update({ state, existingPassphrase: "" });
        }}
        onSaved={() => {
          update({});
        }}
      />
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
          <NewPassphraseStrength
            draft={draft}
            disabled={disabled}
            onReport={(tooWeak) => {
              update({ tooWeak });
            }}
            onPropose={(passphrase) => {
              update({ passphrase, confirmation: "" });
            }}
          />
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

interface NewPassphraseStrengthProps {
  readonly draft: PictureDraft;
  readonly disabled: boolean;
  readonly onReport: (tooWeak: boolean) => void;
  readonly onPropose: (passphrase: string) => void;
}

function NewPassphraseStrength({ draft, disabled, onReport, onPropose }: NewPassphraseStrengthProps) {
  const { passphrase, state } = draft;
  const strength = useStrength(passphrase);
  const tooWeak = isTooWeak(state, strength);
  const reportStrength = useEffectEvent(() => {
    if (tooWeak !== draft.tooWeak) onReport(tooWeak);
  });
  useEffect(() => {
    reportStrength();
  }, [tooWeak]);
  return (
    <>
      <StrengthMeter passphrase={passphrase} level={strength} least={getLeastStrength(state)} />
      <ProposedPassphrase passphrase={passphrase} disabled={disabled} onPropose={onPropose} />
    </>
  );
}
