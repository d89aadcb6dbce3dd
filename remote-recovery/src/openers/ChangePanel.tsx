import type { AccountOpener, CallOptions, ShownImage, Vault } from "@relicario/shared/contract";
import { FieldError, maxImageNameLength, PasswordField, StrengthMeter, TextField } from "@relicario/shared/forms";
import { Button, Muted, SpacedRow, Stack, useShownImage } from "@relicario/shared/ui";
import { showPicture, shownPicture } from "@relicario/vault/shown-image";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { takeFocus } from "../flow/take-focus.ts";
import { ShowToAct } from "./ShowToAct.tsx";

interface ChangePanelProps {
  readonly vault: Vault;
  readonly opener: AccountOpener;
  /** The passphrase of a picture, or the picture itself. */
  readonly what: "passphrase" | "picture";
  readonly onDone: () => void;
  readonly onCancel: () => void;
}

/** What the picture is to become, chosen before it is shown as it is now. */
type Next = { readonly passphrase: string | null } | { readonly picture: ShownImage; readonly name: string };

/**
 * Another passphrase for a picture, or another picture in its place. Says first what opens
 * afterwards, and what does not.
 */
export function ChangePanel({ vault, opener, what, onDone, onCancel }: ChangePanelProps) {
  const { t } = useTranslation("openers");
  const [next, setNext] = useState<Next | null>(null);
  const { name } = opener;
  return (
    <Stack $gap={3}>
      <Muted>{t(`change.${what}_after_body`, { name })}</Muted>
      <Muted>{t("change.copies_body")}</Muted>
      {what === "passphrase" && next === null && <NewPassphrase onNext={setNext} onCancel={onCancel} />}
      {what === "picture" && <NewPicture vault={vault} chosen={next !== null} onNext={setNext} onCancel={onCancel} />}
      {next !== null && (
        <>
          <Muted ref={takeFocus} tabIndex={-1}>
            {t("change.show_body", { name })}
          </Muted>
          <ShowToAct
            vault={vault}
            danger
            pictureOnly
            label={t(`change.${what}_action`)}
            act={(shown, options) => change(vault, shown, next, name, options)}
            onDone={onDone}
            onCancel={onCancel}
          />
        </>
      )}
    </Stack>
  );
}

/** @param shown the picture as it is now */
async function change(vault: Vault, shown: ShownImage, next: Next, name: string, options: CallOptions): Promise<void> {
  if ("picture" in next) {
    await vault.openers.changeImage(shown, { shown: next.picture, name: next.name }, options);
    return;
  }
  const picture = shownPicture(shown)?.picture;
  if (picture === undefined) return; // a lock took it away, and says so itself
  const same = showPicture({ picture, passphrase: next.passphrase });
  try {
    await vault.openers.changeImage(shown, { shown: same, name }, options);
  } finally {
    vault.forgetShown(same);
  }
}

interface NextProps {
  readonly onNext: (next: Next) => void;
  readonly onCancel: () => void;
}

function NewPassphrase({ onNext, onCancel }: NextProps) {
  const { t } = useTranslation("openers");
  const [passphrase, setPassphrase] = useState("");
  const [again, setAgain] = useState("");
  const isNone = passphrase === "" && again === "";
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
        value={again}
        error={again !== "" && !passphrase.startsWith(again) ? t("change.again_error") : null}
        onChange={(event) => {
          setAgain(event.target.value);
        }}
      />
      <SpacedRow>
        <Button
          tone={isNone ? "quiet" : "primary"}
          disabled={passphrase !== again}
          onClick={() => {
            onNext({ passphrase: isNone ? null : passphrase });
          }}
        >
          {t(isNone ? "change.without_action" : "change.next_action")}
        </Button>
        <Button tone="quiet" onClick={onCancel}>
          {t("show.cancel_action")}
        </Button>
      </SpacedRow>
    </Stack>
  );
}

/** Stays on the screen once it is chosen: its handle goes with it. */
function NewPicture({
  vault,
  chosen,
  onNext,
  onCancel,
}: NextProps & { readonly vault: Vault; readonly chosen: boolean }) {
  const { t } = useTranslation("openers");
  const { shown, setShown } = useShownImage(vault);
  const [name, setName] = useState("");
  const [missing, setMissing] = useState(false);
  return (
    <Stack $gap={4}>
      <vault.PictureField
        purpose="choose"
        value={shown}
        disabled={chosen}
        onChange={(next) => {
          setShown(next);
          setMissing(false);
        }}
      />
      <TextField
        label={t("change.name_label")}
        hint={t("add.name_hint")}
        maxLength={maxImageNameLength}
        autoComplete="off"
        value={name}
        disabled={chosen}
        onChange={(event) => {
          setName(event.target.value);
        }}
      />
      {missing && <FieldError>{t("change.missing_error")}</FieldError>}
      {!chosen && (
        <SpacedRow>
          <Button
            onClick={() => {
              const ready = shown !== null && name.trim() !== "";
              setMissing(!ready);
              if (ready) onNext({ picture: shown, name: name.trim() });
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
