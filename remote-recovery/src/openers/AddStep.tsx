import type { ShownImage, Vault } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { maxImageNameLength, TextField } from "@relicario/shared/forms";
import { Button, ErrorNotice, Muted, SpacedRow, Stack } from "@relicario/shared/ui";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { takeFocus } from "../flow/take-focus.ts";
import { ShowToAct } from "./ShowToAct.tsx";

interface AddStepProps {
  readonly vault: Vault;
  /** What is added: its handle, made when it is needed. Throws what the device says. */
  readonly made: () => Promise<ShownImage>;
  readonly initialName: string;
  readonly label: string;
  readonly onAdded: () => void;
  readonly onCancel: () => void;
}

type Adding =
  | { readonly status: "naming"; readonly error: unknown }
  | { readonly status: "running" }
  | { readonly status: "showing"; readonly shown: ShownImage };

/**
 * Names a new opener and adds it. Where none was shown since load or lock, one that opens today is
 * asked for.
 */
export function AddStep({ vault, made, initialName, label, onAdded, onCancel }: AddStepProps) {
  const { t } = useTranslation("openers");
  const [name, setName] = useState(initialName);
  const [adding, setAdding] = useState<Adding>({ status: "naming", error: null });
  const client = useQueryClient();
  const add = async () => {
    setAdding({ status: "running" });
    let shown: ShownImage | null = null;
    try {
      shown = await made();
      await vault.openers.add({ shown, name: name.trim() }, null);
      vault.forgetShown(shown);
      void client.invalidateQueries(); // rows on other screens say what opens them
      onAdded();
    } catch (error) {
      if (shown !== null && isPortalError(error, "show_opener_first")) setAdding({ status: "showing", shown });
      else setAdding({ status: "naming", error });
    }
  };
  if (adding.status === "showing") {
    const { shown } = adding;
    const forget = () => {
      vault.forgetShown(shown);
    };
    return (
      <Stack $gap={3}>
        <Muted ref={takeFocus} tabIndex={-1}>
          {t("add.show_body")}
        </Muted>
        <ShowToAct
          vault={vault}
          label={label}
          act={(opener, options) => vault.openers.add({ shown, name: name.trim() }, opener, options)}
          onDone={() => {
            forget();
            onAdded();
          }}
          onCancel={() => {
            forget();
            onCancel();
          }}
        />
      </Stack>
    );
  }
  const busy = adding.status === "running";
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
      {adding.status === "naming" && <ErrorNotice error={adding.error} />}
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
