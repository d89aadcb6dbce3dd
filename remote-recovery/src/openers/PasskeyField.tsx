import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { ErrorNotice, Muted, Notice, SpacedRow, Stack } from "@relicario/shared/ui";
import { requestPasskey } from "@relicario/vault/passkey";
import { KeyRound } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { GuardedButton } from "./GuardedButton.tsx";

interface PasskeyFieldProps {
  readonly portalOrigin: string;
  readonly disabled: boolean;
  /** Receives the output of the passkey's PRF, 32 bytes. */
  readonly onPrf: (prf: Uint8Array<ArrayBuffer>) => void;
}

/** Asks for a passkey that was made for this vault. */
export function PasskeyField({ portalOrigin, disabled, onPrf }: PasskeyFieldProps) {
  const { t } = useTranslation("openers");
  const [shown, setShown] = useState(false);
  const [failure, setFailure] = useState<PortalError | null>(null);
  const [requesting, setRequesting] = useState(false);
  const unmounted = useRef(false);
  useEffect(() => {
    unmounted.current = false;
    return () => {
      unmounted.current = true;
    };
  }, []);
  const handleRequest = async () => {
    setFailure(null);
    setRequesting(true);
    try {
      const prf = await requestPasskey({ portalOrigin });
      if (unmounted.current) prf.fill(0);
      else {
        setShown(true);
        onPrf(prf);
      }
    } catch (thrown) {
      if (!unmounted.current) setFailure(toPortalError(thrown));
    } finally {
      if (!unmounted.current) setRequesting(false);
    }
  };
  return (
    <Stack $gap={3}>
      <Muted>{t("passkey.show_body")}</Muted>
      {shown && (
        <Notice tone="success" role="status">
          {t("passkey.shown_status")}
        </Notice>
      )}
      {failure?.code === "cancelled" ? (
        <Notice tone="warn" role="alert">
          {t("passkey.none_body")}
        </Notice>
      ) : (
        <ErrorNotice error={failure} />
      )}
      <SpacedRow>
        <GuardedButton
          tone={shown ? "quiet" : "primary"}
          pending={requesting}
          disabled={disabled}
          icon={<KeyRound aria-hidden />}
          onClick={() => void handleRequest()}
        >
          {t(shown ? "passkey.another_action" : "passkey.show_action")}
        </GuardedButton>
      </SpacedRow>
    </Stack>
  );
}
