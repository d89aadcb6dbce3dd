import type { Vault } from "@relicario/shared/contract";
import { Card, SectionTitle, Stack } from "@relicario/shared/ui";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { getVaultElement } from "../elements/vault-elements.tsx";
import { useElementHandle } from "../elements/useElementHandle.ts";
import { focusOnMount } from "../flow/focus-on-mount.ts";
import { AddStep } from "./AddStep.tsx";

interface AddRecoveryCodePanelProps {
  readonly vault: Vault;
  readonly onAdded: () => void;
  readonly onCancel: () => void;
}

/** Shows a new recovery code once, inside the vault's origin, then adds it as an opener. */
export function AddRecoveryCodePanel({ vault, onAdded, onCancel }: AddRecoveryCodePanelProps) {
  const { t } = useTranslation("openers");
  const [VaultElement] = useState(() => getVaultElement(vault));
  const { handle, handleChange } = useElementHandle(vault);
  return (
    <Card aria-labelledby="code-maker">
      <Stack $gap={4}>
        <SectionTitle key={String(handle === null)} ref={focusOnMount} tabIndex={-1} id="code-maker">
          {t("code.make_title")}
        </SectionTitle>
        <VaultElement field={{ kind: "new_recovery_code" }} onChange={handleChange} onCancel={onCancel} />
        {handle !== null && (
          <AddStep
            vault={vault}
            newOpener={handle}
            initialName={t("code.name_body")}
            label={t("code.add_action")}
            onAdded={onAdded}
            onCancel={onCancel}
          />
        )}
      </Stack>
    </Card>
  );
}
