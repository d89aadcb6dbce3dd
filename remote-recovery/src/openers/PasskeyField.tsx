import { usePortal, type ShownImage } from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { FieldError } from "@relicario/shared/forms";
import { Button, ErrorNotice, Muted, Notice, SpacedRow, Stack } from "@relicario/shared/ui";
import { askPasskey } from "@relicario/vault/passkey";
import { showKey } from "@relicario/vault/shown-image";
import { KeyRound } from "lucide-react";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

interface PasskeyFieldProps {
  readonly value: ShownImage | null;
  readonly disabled: boolean;
  /** What went wrong with it, already in words. */
  readonly error: string | null;
  readonly onChange: (value: ShownImage | null) => void;
}

/** Asks the device for a passkey. */
export function PasskeyField({ value, disabled, error, onChange }: PasskeyFieldProps) {
  const { t } = useTranslation("openers");
  const { onLock } = usePortal();
  const [failure, setFailure] = useState<PortalError | null>(null);
  const [asking, setAsking] = useState(false);
  const left = useRef(false);
  useEffect(() => {
    left.current = false;
    return () => {
      left.current = true;
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
  const ask = async () => {
    setFailure(null);
    setAsking(true);
    try {
      const prf = await askPasskey();
      if (left.current) prf.fill(0);
      else onChange(showKey({ kind: "passkey", prf }));
    } catch (thrown) {
      if (!left.current) setFailure(toPortalError(thrown));
    } finally {
      if (!left.current) setAsking(false);
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
          pending={asking}
          disabled={disabled}
          icon={<KeyRound aria-hidden />}
          onClick={() => void ask()}
        >
          {t(value === null ? "passkey.show_action" : "passkey.another_action")}
        </Button>
      </SpacedRow>
    </Stack>
  );
}
