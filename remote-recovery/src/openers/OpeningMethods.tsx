import { Button, SpacedRow, Stack } from "@relicario/shared/ui";
import { FileText, Image, KeyRound } from "lucide-react";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

const methods = ["picture", "passkey", "recovery_code"] as const;

export type OpeningMethod = (typeof methods)[number];

const icons = { picture: Image, passkey: KeyRound, recovery_code: FileText } as const;

interface OpeningMethodsProps {
  readonly method: OpeningMethod;
  readonly disabled: boolean;
  readonly onMethodChange: (method: OpeningMethod) => void;
  readonly children: ReactNode;
}

/** Input of one way to open, above buttons for the other ways. */
export function OpeningMethods({ method, disabled, onMethodChange, children }: OpeningMethodsProps) {
  const { t } = useTranslation("openers");
  return (
    <Stack $gap={4}>
      {children}
      <SpacedRow role="group" aria-label={t("ways.list_aria")}>
        {methods
          .filter((alternative) => alternative !== method)
          .map((alternative) => {
            const Icon = icons[alternative];
            return (
              <Button
                key={alternative}
                tone="plain"
                size="small"
                disabled={disabled}
                icon={<Icon aria-hidden />}
                onClick={() => {
                  onMethodChange(alternative);
                }}
              >
                {t(`ways.${alternative}_action`)}
              </Button>
            );
          })}
      </SpacedRow>
    </Stack>
  );
}
