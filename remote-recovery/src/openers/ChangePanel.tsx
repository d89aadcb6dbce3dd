import type { AccountOpener, CallOptions, OpenerHandle, Vault } from "@relicario/shared/contract";
import { FieldError, maxImageNameLength, PasswordField, StrengthMeter, TextField } from "@relicario/shared/forms";
import { Button, Muted, SpacedRow, Stack, useOpenerHandle } from "@relicario/shared/ui";
import { presentPicture, getPresentedPicture } from "@relicario/vault/presented-opener";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { focusOnMount } from "../flow/focus-on-mount.ts";
import { OpenerOperationForm } from "./OpenerOperationForm.tsx";

interface ChangePanelProps {
  readonly vault: Vault;
  readonly opener: AccountOpener;
  /** The passphrase of a picture, or the picture itself. */
  readonly target: "passphrase" | "picture";
  readonly onDone: () => void;
  readonly onCancel: () => void;
}

/** What the picture is to become, chosen before it is shown as it is now. */
type ImageReplacement =
  | { readonly passphrase: string | null }
  | { readonly picture: OpenerHandle; readonly name: string };

/**
 * Another passphrase for a picture, or another picture in its place. Says first what opens
 * afterwards, and what does not.
 */
export function ChangePanel({ vault, opener, target, onDone, onCancel }: ChangePanelProps) {
  const { t } = useTranslation("openers");
  const [replacement, setReplacement] = useState<ImageReplacement | null>(null);
  const { name } = opener;
  return (
    <Stack $gap={3}>
      <Muted>{t(`change.${target}_after_body`, { name })}</Muted>
      <Muted>{t("change.copies_body")}</Muted>
      {target === "passphrase" && replacement === null && (
        <NewPassphraseForm onChoose={setReplacement} onCancel={onCancel} />
      )}
      {target === "picture" && (
        <NewPictureForm vault={vault} submitted={replacement !== null} onChoose={setReplacement} onCancel={onCancel} />
      )}
      {replacement !== null && (
        <>
          <Muted ref={focusOnMount} tabIndex={-1}>
            {t("change.show_body", { name })}
          </Muted>
          <OpenerOperationForm
            vault={vault}
            danger
            pictureOnly
            label={t(`change.${target}_action`)}
            operation={(openerHandle, options) => changeImage(vault, openerHandle, replacement, name, options)}
            onDone={onDone}
            onCancel={onCancel}
          />
        </>
      )}
    </Stack>
  );
}

/** @param currentHandle the picture as it is now */
async function changeImage(
  vault: Vault,
  currentHandle: OpenerHandle,
  replacement: ImageReplacement,
  name: string,
  options: CallOptions,
): Promise<void> {
  if ("picture" in replacement) {
    await vault.openers.replaceImage(currentHandle, { handle: replacement.picture, name: replacement.name }, options);
    return;
  }
  const picture = getPresentedPicture(currentHandle)?.picture;
  if (picture === undefined) return; // a lock took it away, and says so itself
  const newHandle = presentPicture({ picture, passphrase: replacement.passphrase });
  try {
    await vault.openers.replaceImage(currentHandle, { handle: newHandle, name }, options);
  } finally {
    vault.releaseOpener(newHandle);
  }
}

interface ReplacementFormProps {
  readonly onChoose: (replacement: ImageReplacement) => void;
  readonly onCancel: () => void;
}

function NewPassphraseForm({ onChoose, onCancel }: ReplacementFormProps) {
  const { t } = useTranslation("openers");
  const [passphrase, setPassphrase] = useState("");
  const [confirmation, setConfirmation] = useState("");
  const isEmpty = passphrase === "" && confirmation === "";
  return (
    <Stack $gap={4}>
      <PasswordField
        label={t("change.new_label")}
        hint={t("change.new_hint")}
        value={passphrase}
        onChange={(event) => {
          setPassphrase(event.target.value);
        }}
      />
      <StrengthMeter passphrase={passphrase} />
      <PasswordField
        label={t("change.again_label")}
        value={confirmation}
        error={confirmation !== "" && !passphrase.startsWith(confirmation) ? t("change.again_error") : null}
        onChange={(event) => {
          setConfirmation(event.target.value);
        }}
      />
      <SpacedRow>
        <Button
          tone={isEmpty ? "quiet" : "primary"}
          disabled={passphrase !== confirmation}
          onClick={() => {
            onChoose({ passphrase: isEmpty ? null : passphrase });
          }}
        >
          {t(isEmpty ? "change.without_action" : "change.next_action")}
        </Button>
        <Button tone="quiet" onClick={onCancel}>
          {t("show.cancel_action")}
        </Button>
      </SpacedRow>
    </Stack>
  );
}

/** Stays on the screen once it is chosen: its handle goes with it. */
function NewPictureForm({
  vault,
  submitted,
  onChoose,
  onCancel,
}: ReplacementFormProps & { readonly vault: Vault; readonly submitted: boolean }) {
  const { t } = useTranslation("openers");
  const { openerHandle, setOpenerHandle } = useOpenerHandle(vault);
  const [name, setName] = useState("");
  const [incomplete, setIncomplete] = useState(false);
  return (
    <Stack $gap={4}>
      <vault.PictureField
        purpose="choose"
        value={openerHandle}
        disabled={submitted}
        onChange={(nextHandle) => {
          setOpenerHandle(nextHandle);
          setIncomplete(false);
        }}
      />
      <TextField
        label={t("change.name_label")}
        hint={t("add.name_hint")}
        maxLength={maxImageNameLength}
        autoComplete="off"
        value={name}
        disabled={submitted}
        onChange={(event) => {
          setName(event.target.value);
        }}
      />
      {incomplete && <FieldError>{t("change.missing_error")}</FieldError>}
      {!submitted && (
        <SpacedRow>
          <Button
            onClick={() => {
              const complete = openerHandle !== null && name.trim() !== "";
              setIncomplete(!complete);
              if (complete) onChoose({ picture: openerHandle, name: name.trim() });
            }}
          >
            {t("change.next_action")}
          </Button>
          <Button tone="quiet" onClick={onCancel}>
            {t("show.cancel_action")}
          </Button>
        </SpacedRow>
      )}
    </Stack>
  );
}
