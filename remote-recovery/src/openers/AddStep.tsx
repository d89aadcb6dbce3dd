import type { OpenerHandle, Vault } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { maxImageNameLength, TextField } from "@relicario/shared/forms";
import { Button, ErrorNotice, Muted, SpacedRow, Stack } from "@relicario/shared/ui";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { focusOnMount } from "../flow/focus-on-mount.ts";
import { OpenerOperationForm } from "./OpenerOperationForm.tsx";

interface AddStepProps {
  readonly vault: Vault;
  /** What is added: its handle, made when it is needed. Throws what the device says. */
  readonly createHandle: () => Promise<OpenerHandle>;
  readonly initialName: string;
  readonly label: string;
  readonly onAdded: () => void;
  readonly onCancel: () => void;
}

type AddState =
  | { readonly status: "naming"; readonly error: unknown }
  | { readonly status: "running" }
  | { readonly status: "showing"; readonly openerHandle: OpenerHandle };

/**
 * Names a new opener and adds it. Where none was shown since load or lock, one that opens today is
 * asked for.
 */
export function AddStep({ vault, createHandle, initialName, label, onAdded, onCancel }: AddStepProps) {
  const { t } = useTranslation("openers");
  const [name, setName] = useState(initialName);
  const [addState, setAddState] = useState<AddState>({ status: "naming", error: null });
  const queryClient = useQueryClient();
  const add = async () => {
    setAddState({ status: "running" });
    let openerHandle: OpenerHandle | null = null;
    try {
      openerHandle = await createHandle();
      await vault.openers.add({ handle: openerHandle, name: name.trim() }, null);
      vault.releaseOpener(openerHandle);
      void queryClient.invalidateQueries(); // rows on other screens say what opens them
      onAdded();
    } catch (error) {
      if (openerHandle !== null && isPortalError(error, "show_opener_first"))
        setAddState({ status: "showing", openerHandle });
      else setAddState({ status: "naming", error });
    }
  };
  if (addState.status === "showing") {
    const { openerHandle } = addState;
    const release = () => {
      vault.releaseOpener(openerHandle);
    };
    return (
      <Stack $gap={3}>
        <Muted ref={focusOnMount} tabIndex={-1}>
          {t("add.show_body")}
        </Muted>
        <OpenerOperationForm
          vault={vault}
          label={label}
          operation={(presentedOpener, options) =>
            vault.openers.add({ handle: openerHandle, name: name.trim() }, presentedOpener, options)
          }
          onDone={() => {
            release();
            onAdded();
          }}
          onCancel={() => {
            release();
            onCancel();
          }}
        />
      </Stack>
    );
  }
  const busy = addState.status === "running";
  return (
    <Stack $gap={3}>
      <TextField
        label={t("add.name_label")}
        hint={t("add.name_hint")}
        maxLength={maxImageNameLength}
        value={name}
        disabled={busy}
        onChange={(event) => {
          setName(event.target.value);
        }}
      />
      {addState.status === "naming" && <ErrorNotice error={addState.error} />}
      <SpacedRow>
        <Button pending={busy} disabled={name.trim() === ""} onClick={() => void add()}>
          {label}
        </Button>
        <Button tone="quiet" disabled={busy} onClick={onCancel}>
          {t("show.cancel_action")}
        </Button>
      </SpacedRow>
    </Stack>
  );
}
