import type { Vault } from "@relicario/shared/contract";
import { Button, Card, Muted, SectionTitle, SpacedRow, Stack } from "@relicario/shared/ui";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useElementHandle } from "../elements/useElementHandle.ts";
import { getVaultElement } from "../elements/vault-elements.tsx";
import { focusOnMount } from "../flow/focus-on-mount.ts";
import { AddStep } from "./AddStep.tsx";

interface AddPasskeyPanelProps {
  readonly vault: Vault;
  readonly onAdded: () => void;
  readonly onCancel: () => void;
}

/** Creates a passkey inside the vault's origin, then adds it as an opener. */
export function AddPasskeyPanel({ vault, onAdded, onCancel }: AddPasskeyPanelProps) {
  const { t } = useTranslation("openers");
  const [VaultElement] = useState(() => getVaultElement(vault));
  const { handle, handleChange } = useElementHandle(vault);
  return (
    <Card aria-labelledby="passkey-maker">
      <Stack $gap={4}>
        <SectionTitle key={String(handle === null)} ref={focusOnMount} tabIndex={-1} id="passkey-maker">
          {t("passkey.make_title")}
        </SectionTitle>
        <Muted>{t("passkey.make_body")}</Muted>
        <Muted>{t("passkey.lock_body")}</Muted>
        <VaultElement field={{ kind: "new_passkey" }} onChange={handleChange} />
        {handle === null ? (
          <SpacedRow>
            <Button tone="quiet" onClick={onCancel}>
              {t("show.cancel_action")}
            </Button>
          </SpacedRow>
        ) : (
          <AddStep
            vault={vault}
            newOpener={handle}
            initialName={t("passkey.name_body")}
            label={t("passkey.add_action")}
            onAdded={onAdded}
            onCancel={onCancel}
          />
        )}
      </Stack>
    </Card>
  );
}
