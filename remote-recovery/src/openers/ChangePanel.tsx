import type { AccountOpener, OpenerHandle, Vault } from "@relicario/shared/contract";
import { FieldError, maxImageNameLength, TextField } from "@relicario/shared/forms";
import { Button, markVerbatim, Muted, renderVerbatim, SpacedRow, Stack, useOpenerHandle } from "@relicario/shared/ui";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useElementHandle } from "../elements/useElementHandle.ts";
import { getVaultElement } from "../elements/vault-elements.tsx";
import { focusOnMount } from "../flow/focus-on-mount.ts";
import { OpenerOperationForm } from "./OpenerOperationForm.tsx";

interface ChangePanelProps {
  readonly vault: Vault;
  readonly opener: AccountOpener;
  readonly target: "passphrase" | "picture";
  readonly onDone: () => void;
  readonly onCancel: () => void;
}

/** The new passphrase or picture; chosen before the current picture is presented. */
interface ImageReplacement {
  readonly handle: OpenerHandle;
  readonly name: string;
}

/**
 * Changes the passphrase of a picture, or replaces the picture. Says first what opens secrets
 * afterwards and what no longer does.
 */
export function ChangePanel({ vault, opener, target, onDone, onCancel }: ChangePanelProps) {
  const { t } = useTranslation("openers");
  const [replacement, setReplacement] = useState<ImageReplacement | null>(null);
  const { name } = opener;
  return (
    <Stack $gap={3}>
      <Muted>{renderVerbatim(t(`change.${target}_after_body`, { name: markVerbatim(name) }))}</Muted>
      <Muted>{t("change.copies_body")}</Muted>
      {target === "passphrase" && (
        <NewPassphraseForm
          vault={vault}
          name={name}
          submitted={replacement !== null}
          onChoose={setReplacement}
          onCancel={onCancel}
        />
      )}
      {target === "picture" && (
        <NewPictureForm vault={vault} submitted={replacement !== null} onChoose={setReplacement} onCancel={onCancel} />
      )}
      {replacement !== null && (
        <>
          <Muted ref={focusOnMount} tabIndex={-1}>
            {renderVerbatim(t("change.show_body", { name: markVerbatim(name) }))}
          </Muted>
          <OpenerOperationForm
            vault={vault}
            danger
            pictureOnly
            label={t(`change.${target}_action`)}
            runOperation={(openerHandle, options) => vault.openers.replaceImage(openerHandle, replacement, options)}
            onDone={() => {
              onDone();
            }}
            onCancel={onCancel}
          />
        </>
      )}
    </Stack>
  );
}

interface ReplacementFormProps {
  readonly vault: Vault;
  readonly submitted: boolean;
  readonly onChoose: (replacement: ImageReplacement) => void;
  readonly onCancel: () => void;
}

interface NewPassphraseFormProps extends ReplacementFormProps {
  /** Of the picture, which keeps it. */
  readonly name: string;
}

/**
 * Form for the new passphrase. Stays mounted after submitting, because unmounting releases its
 * handle.
 */
function NewPassphraseForm({ vault, name, submitted, onChoose, onCancel }: NewPassphraseFormProps) {
  const { t } = useTranslation("openers");
  const [VaultElement] = useState(() => getVaultElement(vault));
  const { state, handle, handleChange } = useElementHandle(vault);
  const isEmpty = state.kind === null;
  return (
    <Stack $gap={4}>
      <VaultElement field={{ kind: "new_passphrase" }} disabled={submitted} onChange={handleChange} />
      {!submitted && (
        <SpacedRow>
          <Button
            tone={isEmpty ? "quiet" : "primary"}
            disabled={handle === null}
            onClick={() => {
              if (handle !== null) onChoose({ handle, name });
            }}
          >
            {t(isEmpty ? "change.without_action" : "change.next_action")}
          </Button>
          <Button tone="quiet" onClick={onCancel}>
            {t("show.cancel_action")}
          </Button>
        </SpacedRow>
      )}
    </Stack>
  );
}

/**
 * Form for the new picture. Stays mounted after submitting, because unmounting releases its handle.
 */
function NewPictureForm({ vault, submitted, onChoose, onCancel }: ReplacementFormProps) {
  const { t } = useTranslation(["openers", "provide-image"]);
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
        hint={t("provide-image:image.name_hint")}
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
              if (complete) onChoose({ handle: openerHandle, name: name.trim() });
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
