import { usePortal, type DeviceOffer, type ShownImage, type Vault } from "@relicario/shared/contract";
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
  useForgetting,
} from "@relicario/shared/ui";
import { makePasskey } from "@relicario/vault/passkey";
import { showKey } from "@relicario/vault/shown-image";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { takeFocus } from "../flow/take-focus.ts";
import { ShowOffer } from "./ShowOffer.tsx";
import { WithoutPasskey } from "./WithoutPasskey.tsx";

interface OfferDeviceProps {
  readonly vault: Vault;
  /** Where it goes on. */
  readonly then: string;
  /** The code is shown. Once the other device has answered, the vault is unlocked. */
  readonly onOffered: () => void;
}

/**
 * `begin`: before a passkey is made. `making`: the device asks for it, and the code is left.
 * `waiting`: the code is shown.
 */
type Step =
  | { readonly status: "begin"; readonly error: PortalError | null; readonly again?: true }
  | { readonly status: "making" }
  | { readonly status: "waiting"; readonly offer: DeviceOffer; readonly passkey: ShownImage };

/**
 * The new device: a name, a passkey, then its code. A code that is over is followed by another one
 * for the same passkey.
 */
export function OfferDevice({ vault, then, onOffered }: OfferDeviceProps) {
  const { t } = useTranslation("devices");
  const { onLock, user, vendor } = usePortal();
  const [name, setName] = useState(() => t("new.name_body"));
  const [passkey, setPasskey] = useState<ShownImage | null>(null);
  const [step, setStep] = useState<Step>({ status: "begin", error: null });
  useForgetting(vault, passkey);
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
      const made =
        passkey ??
        showKey({
          kind: "passkey",
          prf: await makePasskey({ name: user.userName, productName: vendor.branding.productName }),
        });
      setPasskey(made);
      const left = await vault.deviceLinks.offer({ shown: made, name: name.trim() });
      onOffered();
      setStep({ status: "waiting", passkey: made, offer: left });
    } catch (error) {
      setStep({ status: "begin", error: toPortalError(error) });
    }
  };
  if (step.status === "waiting") {
    return (
      <ShowOffer
        key={step.offer.expiresAt}
        vault={vault}
        offer={step.offer}
        passkey={step.passkey}
        onAgain={() => void offer()}
        onCancel={() => {
          setStep({ status: "begin", error: null, again: true });
        }}
      />
    );
  }
  const error = step.status === "begin" ? step.error : null;
  if (error?.code === "passkey_without_prf") return <WithoutPasskey then={then} />;
  const busy = step.status === "making";
  return (
    <Card aria-labelledby="new-device">
      <Stack $gap={4}>
        <SectionTitle
          ref={step.status === "begin" && step.again === true ? takeFocus : null}
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
