import { usePortal, type DeviceOffer, type OpenerHandle, type Vault } from "@relicario/shared/contract";
import { maxImageNameLength, TextField, useVaultOperation } from "@relicario/shared/forms";
import { Button, Card, ErrorNotice, Muted, SectionTitle, SpacedRow, Stack } from "@relicario/shared/ui";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { useElementHandle } from "../elements/useElementHandle.ts";
import { getVaultElement } from "../elements/vault-elements.tsx";
import { focusOnMount } from "../flow/focus-on-mount.ts";
import { DeviceOfferCode } from "./DeviceOfferCode.tsx";
import { PasskeyUnavailableNotice } from "./PasskeyUnavailableNotice.tsx";

interface OfferDeviceProps {
  readonly vault: Vault;
  readonly returnPath: string;
  /** Called when the code is shown. The vault unlocks once the other device has responded. */
  readonly onOffered: () => void;
}

/** `begin`: no code exists. `waiting`: the code is shown. */
type Step =
  | { readonly status: "begin"; readonly refocus?: true }
  | { readonly status: "waiting"; readonly offer: DeviceOffer; readonly passkey: OpenerHandle };

/**
 * Creates a passkey and the code with which another device admits this one. Renewing an expired
 * code keeps the passkey.
 */
export function OfferDevice({ vault, returnPath, onOffered }: OfferDeviceProps) {
  const { t } = useTranslation("devices");
  const { onLock } = usePortal();
  const [name, setName] = useState(() => t("new.name_body"));
  const [VaultElement] = useState(() => getVaultElement(vault));
  const { state, handle: passkey, handleChange } = useElementHandle(vault);
  const [step, setStep] = useState<Step>({ status: "begin" });
  const { running, error, start } = useVaultOperation();
  useEffect(
    () =>
      onLock(() => {
        setStep({ status: "begin" });
      }),
    [onLock],
  );
  const createOffer = (): void => {
    if (passkey === null) return;
    setStep({ status: "begin" });
    start({
      run: async (options) => {
        const offer = await vault.deviceLinks.offer({ handle: passkey, name: name.trim() }, options);
        return { passkey, offer };
      },
      onDone: (offered) => {
        onOffered();
        setStep({ status: "waiting", ...offered });
      },
    });
  };
  if (step.status === "waiting") {
    return (
      <DeviceOfferCode
        key={step.offer.expiresAt}
        vault={vault}
        offer={step.offer}
        passkey={step.passkey}
        onRenew={createOffer}
        onCancel={() => {
          setStep({ status: "begin", refocus: true });
        }}
      />
    );
  }
  if (state.error === "passkey_without_prf") return <PasskeyUnavailableNotice returnPath={returnPath} />;
  return (
    <Card aria-labelledby="new-device">
      <Stack $gap={4}>
        <SectionTitle ref={step.refocus === true ? focusOnMount : null} tabIndex={-1} id="new-device">
          {t("new.passkey_title")}
        </SectionTitle>
        <Muted>{t("new.passkey_body")}</Muted>
        <TextField
          label={t("new.name_label")}
          hint={t("new.name_hint")}
          maxLength={maxImageNameLength}
          value={name}
          disabled={running}
          onChange={(event) => {
            setName(event.target.value);
          }}
        />
        {passkey === null ? (
          <VaultElement field={{ kind: "new_passkey" }} onChange={handleChange} />
        ) : (
          <>
            <ErrorNotice error={error} />
            <SpacedRow>
              <Button pending={running} disabled={name.trim() === ""} onClick={createOffer}>
                {t("new.passkey_action")}
              </Button>
            </SpacedRow>
          </>
        )}
      </Stack>
    </Card>
  );
}
