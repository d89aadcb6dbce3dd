import { usePortal, type Vault } from "@relicario/shared/contract";
import { Card, Muted, SectionTitle, Stack } from "@relicario/shared/ui";
import { makePasskey } from "@relicario/vault/passkey";
import { showKey } from "@relicario/vault/shown-image";
import { useTranslation } from "react-i18next";

import { useFocused } from "../flow/useFocused.ts";
import { AddStep } from "./AddStep.tsx";

interface PasskeyMakerProps {
  readonly vault: Vault;
  readonly onEnd: () => void;
}

/** Makes a passkey that opens, and adds it. */
export function PasskeyMaker({ vault, onEnd }: PasskeyMakerProps) {
  const { t } = useTranslation("openers");
  const { user, vendor } = usePortal();
  const title = useFocused<HTMLHeadingElement>();
  const productName = vendor.branding.productName;
  return (
    <Card aria-labelledby="passkey-maker">
      <Stack $gap={4}>
        <SectionTitle ref={title} tabIndex={-1} id="passkey-maker">
          {t("passkey.make_title")}
        </SectionTitle>
        <Muted>{t("passkey.make_body")}</Muted>
        <Muted>{t("passkey.lock_body")}</Muted>
        <AddStep
          vault={vault}
          made={async () => showKey({ kind: "passkey", prf: await makePasskey({ name: user.userName, productName }) })}
          initialName={t("passkey.name_body")}
          label={t("passkey.make_action")}
          onAdded={onEnd}
          onCancel={onEnd}
        />
      </Stack>
    </Card>
  );
}
