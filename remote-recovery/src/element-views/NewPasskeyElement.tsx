import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { ErrorNotice, Notice, SpacedRow, Stack } from "@relicario/shared/ui";
import { createPasskey } from "@relicario/vault/passkey";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { GuardedButton } from "../openers/GuardedButton.tsx";
import { emptyInput, type ElementInput } from "./element-input.ts";

interface NewPasskeyElementProps {
  readonly userName: string;
  readonly productName: string;
  readonly portalOrigin: string;
  readonly disabled: boolean;
  readonly onInput: (input: ElementInput) => void;
}

type Creation =
  | { readonly status: "idle" | "creating" | "created" }
  | { readonly status: "failed"; readonly error: PortalError };

/** Creates a passkey of the vault's origin. */
export function NewPasskeyElement({ userName, productName, portalOrigin, disabled, onInput }: NewPasskeyElementProps) {
  const { t } = useTranslation("openers");
  const [creation, setCreation] = useState<Creation>({ status: "idle" });
  const handleCreate = async () => {
    setCreation({ status: "creating" });
    try {
      const prf = await createPasskey({ name: userName, productName, portalOrigin });
      setCreation({ status: "created" });
      onInput({
        ...emptyInput,
        input: { opener: { kind: "passkey", prf }, draft: null },
        ready: true,
        kind: "passkey",
        problem: null,
      });
    } catch (thrown) {
      const error = toPortalError(thrown);
      setCreation({ status: "failed", error });
      onInput({ ...emptyInput, error: error.code });
    }
  };
  if (creation.status === "created")
    return (
      <Notice tone="success" role="status">
        {t("passkey.made_status")}
      </Notice>
    );
  return (
    <Stack $gap={3}>
      {creation.status === "failed" &&
        (creation.error.code === "cancelled" ? (
          <Notice tone="warn" role="alert">
            {t("passkey.cancelled_body")}
          </Notice>
        ) : (
          <ErrorNotice error={creation.error} />
        ))}
      <SpacedRow>
        <GuardedButton
          icon={<KeyRound aria-hidden />}
          pending={creation.status === "creating"}
          disabled={disabled}
          onClick={() => void handleCreate()}
        >
          {t("passkey.make_action")}
        </GuardedButton>
      </SpacedRow>
    </Stack>
  );
}
