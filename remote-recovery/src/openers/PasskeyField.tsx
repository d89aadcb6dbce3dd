import { usePortal, type OpenerHandle } from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { FieldError } from "@relicario/shared/forms";
import { Button, ErrorNotice, Muted, Notice, SpacedRow, Stack } from "@relicario/shared/ui";
import { requestPasskey } from "@relicario/vault/passkey";
import { presentKey } from "@relicario/vault/presented-opener";
import { KeyRound } from "lucide-react";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

interface PasskeyFieldProps {
  readonly value: OpenerHandle | null;
  readonly disabled: boolean;
  /** What went wrong with it, already in words. */
  readonly error: string | null;
  readonly onChange: (value: OpenerHandle | null) => void;
}

/** Asks the device for a passkey. */
export function PasskeyField({ value, disabled, error, onChange }: PasskeyFieldProps) {
  const { t } = useTranslation("openers");
  const { onLock } = usePortal();
  const [failure, setFailure] = useState<PortalError | null>(null);
  const [requesting, setRequesting] = useState(false);
  const unmounted = useRef(false);
  useEffect(() => {
    unmounted.current = false;
    return () => {
      unmounted.current = true;
    };
  }, []);
  const handleLock = useEffectEvent(() => {
    onChange(null);
  });
  useEffect(
    () =>
      onLock(() => {
        handleLock();
      }),
    [onLock],
  );
  const handleRequest = async () => {
    setFailure(null);
    setRequesting(true);
    try {
      const prf = await requestPasskey();
      if (unmounted.current) prf.fill(0);
      else onChange(presentKey({ kind: "passkey", prf }));
    } catch (thrown) {
      if (!unmounted.current) setFailure(toPortalError(thrown));
    } finally {
      if (!unmounted.current) setRequesting(false);
    }
  };
  return (
    <Stack $gap={3}>
      <Muted>{t("passkey.show_body")}</Muted>
      {value !== null && (
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
      {error !== null && error !== "" && <FieldError>{error}</FieldError>}
      <SpacedRow>
        <Button
          tone={value === null ? "primary" : "quiet"}
          pending={requesting}
          disabled={disabled}
          icon={<KeyRound aria-hidden />}
          onClick={() => void handleRequest()}
        >
          {t(value === null ? "passkey.show_action" : "passkey.another_action")}
        </Button>
      </SpacedRow>
    </Stack>
  );
}
