import { usePortal, type Vault } from "@relicario/shared/contract";
import { Card, Muted, SectionTitle, Stack } from "@relicario/shared/ui";
import { createPasskey } from "@relicario/vault/passkey";
import { presentKey } from "@relicario/vault/presented-opener";
import { useTranslation } from "react-i18next";

import { focusOnMount } from "../flow/focus-on-mount.ts";
import { AddStep } from "./AddStep.tsx";

interface AddPasskeyPanelProps {
  readonly vault: Vault;
  readonly onAdded: () => void;
  readonly onCancel: () => void;
}

/** Makes a passkey that opens, and adds it. */
export function AddPasskeyPanel({ vault, onAdded, onCancel }: AddPasskeyPanelProps) {
  const { t } = useTranslation("openers");
  const { user, vendor } = usePortal();
  const productName = vendor.branding.productName;
  return (
    <Card aria-labelledby="passkey-maker">
      <Stack $gap={4}>
        <SectionTitle ref={focusOnMount} tabIndex={-1} id="passkey-maker">
          {t("passkey.make_title")}
        </SectionTitle>
        <Muted>{t("passkey.make_body")}</Muted>
        <Muted>{t("passkey.lock_body")}</Muted>
        <AddStep
          vault={vault}
          createHandle={async () =>
            presentKey({ kind: "passkey", prf: await createPasskey({ name: user.userName, productName }) })
          }
          initialName={t("passkey.name_body")}
          label={t("passkey.make_action")}
          onAdded={onAdded}
          onCancel={onCancel}
        />
      </Stack>
    </Card>
  );
}
