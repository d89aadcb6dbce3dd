import type { OpenerHandle, Vault } from "@relicario/shared/contract";
import { maxImageNameLength, OpenerPrompt, TextField, useVaultOperation } from "@relicario/shared/forms";
import { Button, ErrorNotice, Muted, SpacedRow, Stack } from "@relicario/shared/ui";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { focusOnMount } from "../flow/focus-on-mount.ts";

interface AddStepProps {
  readonly vault: Vault;
  /** Released by the caller. */
  readonly newOpener: OpenerHandle;
  readonly initialName: string;
  readonly label: string;
  readonly onAdded: () => void;
  readonly onCancel: () => void;
}

/**
 * Names a new opener and adds it. Asks for an existing opener if none was presented since load or
 * lock.
 */
export function AddStep({ vault, newOpener, initialName, label, onAdded, onCancel }: AddStepProps) {
  const { t } = useTranslation("openers");
  const [name, setName] = useState(initialName);
  const operation = useVaultOperation({ vault });
  const queryClient = useQueryClient();
  const add = () => {
    operation.start({
      run: (options, presentedOpener) =>
        vault.openers.add({ handle: newOpener, name: name.trim() }, presentedOpener, options),
      onDone: onAdded,
      onSettled: () => void queryClient.invalidateQueries(), // rows of other screens show what opens them
    });
  };
  const { running, error, asksOpener } = operation;
  if (asksOpener) {
    return (
      <Stack $gap={3}>
        <Muted ref={focusOnMount} tabIndex={-1}>
          {t("add.show_body")}
        </Muted>
        <OpenerPrompt
          vault={vault}
          operation={operation}
          label={label}
          initialPhase="fetching"
          onSubmit={add}
          onClose={onCancel}
        />
      </Stack>
    );
  }
  return (
    <Stack $gap={3}>
      <TextField
        label={t("add.name_label")}
        hint={t("add.name_hint")}
        maxLength={maxImageNameLength}
        value={name}
        disabled={running}
        onChange={(event) => {
          setName(event.target.value);
        }}
      />
      <ErrorNotice error={error} />
      <SpacedRow>
        <Button pending={running} disabled={name.trim() === ""} onClick={add}>
          {label}
        </Button>
        <Button tone="quiet" disabled={running} onClick={onCancel}>
          {t("show.cancel_action")}
        </Button>
      </SpacedRow>
    </Stack>
  );
}
