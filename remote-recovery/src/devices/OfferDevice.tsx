import { usePortal, type DeviceOffer, type OpenerHandle, type Vault } from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { maxImageNameLength, TextField } from "@relicario/shared/forms";
import {
  Button,
  Card,
  ErrorNotice,
  Muted,
  Notice,
  SectionTitle,
  SpacedRow,
  Stack,
  useReleaseOpener,
} from "@relicario/shared/ui";
import { createPasskey } from "@relicario/vault/passkey";
import { presentKey } from "@relicario/vault/presented-opener";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { focusOnMount } from "../flow/focus-on-mount.ts";
import { DeviceOfferCode } from "./DeviceOfferCode.tsx";
import { PasskeyUnavailableNotice } from "./PasskeyUnavailableNotice.tsx";

interface OfferDeviceProps {
  readonly vault: Vault;
  /** Where it goes on. */
  readonly returnPath: string;
  /** The code is shown. Once the other device has answered, the vault is unlocked. */
  readonly onOffered: () => void;
}

/**
 * `begin`: before a passkey is made. `making`: the device asks for it, and the code is left.
 * `waiting`: the code is shown.
 */
type Step =
  | { readonly status: "begin"; readonly error: PortalError | null; readonly refocus?: true }
  | { readonly status: "making" }
  | { readonly status: "waiting"; readonly offer: DeviceOffer; readonly passkey: OpenerHandle };

/**
 * The new device: a name, a passkey, then its code. A code that is over is followed by another one
 * for the same passkey.
 */
export function OfferDevice({ vault, returnPath, onOffered }: OfferDeviceProps) {
  const { t } = useTranslation("devices");
  const { onLock, user, vendor } = usePortal();
  const [name, setName] = useState(() => t("new.name_body"));
  const [passkey, setPasskey] = useState<OpenerHandle | null>(null);
  const [step, setStep] = useState<Step>({ status: "begin", error: null });
  useReleaseOpener(vault, passkey);
  useEffect(
    () =>
      onLock(() => {
        setPasskey(null); // the vault forgets every handle
        setStep({ status: "begin", error: null });
      }),
    [onLock],
  );
  const offer = async (): Promise<void> => {
    setStep({ status: "making" });
    try {
      const passkeyHandle =
        passkey ??
        presentKey({
          kind: "passkey",
          prf: await createPasskey({ name: user.userName, productName: vendor.branding.productName }),
        });
      setPasskey(passkeyHandle);
      const newOffer = await vault.deviceLinks.offer({ handle: passkeyHandle, name: name.trim() });
      onOffered();
      setStep({ status: "waiting", passkey: passkeyHandle, offer: newOffer });
    } catch (error) {
      setStep({ status: "begin", error: toPortalError(error) });
    }
  };
  if (step.status === "waiting") {
    return (
      <DeviceOfferCode
        key={step.offer.expiresAt}
        vault={vault}
        offer={step.offer}
        passkey={step.passkey}
        onRenew={() => void offer()}
        onCancel={() => {
          setStep({ status: "begin", error: null, refocus: true });
        }}
      />
    );
  }
  const error = step.status === "begin" ? step.error : null;
  if (error?.code === "passkey_without_prf") return <PasskeyUnavailableNotice returnPath={returnPath} />;
  const busy = step.status === "making";
  return (
    <Card aria-labelledby="new-device">
      <Stack $gap={4}>
        <SectionTitle
          ref={step.status === "begin" && step.refocus === true ? focusOnMount : null}
          tabIndex={-1}
          id="new-device"
        >
          {t("new.passkey_title")}
        </SectionTitle>
        <Muted>{t("new.passkey_body")}</Muted>
        <TextField
          label={t("new.name_label")}
          hint={t("new.name_hint")}
          maxLength={maxImageNameLength}
          value={name}
          disabled={busy}
          onChange={(event) => {
            setName(event.target.value);
          }}
        />
        {error?.code === "cancelled" ? (
          <Notice tone="warn" role="alert">
            {t("new.cancelled_body")}
          </Notice>
        ) : (
          <ErrorNotice error={error} />
        )}
        <SpacedRow>
          <Button pending={busy} disabled={name.trim() === ""} onClick={() => void offer()}>
            {t(passkey === null ? "new.passkey_action" : "new.code_action")}
          </Button>
        </SpacedRow>
      </Stack>
    </Card>
  );
}
