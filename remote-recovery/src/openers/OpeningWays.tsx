import { Button, SpacedRow, Stack } from "@relicario/shared/ui";
import { FileText, Image, KeyRound } from "lucide-react";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

const ways = ["picture", "passkey", "recovery_code"] as const;

/** What is shown to open something. */
export type OpeningWay = (typeof ways)[number];

const icons = { picture: Image, passkey: KeyRound, recovery_code: FileText } as const;

interface OpeningWaysProps {
  readonly way: OpeningWay;
  readonly disabled: boolean;
  readonly onWay: (way: OpeningWay) => void;
  readonly children: ReactNode;
}

/** One way to open something, and below it those that could take its place. */
export function OpeningWays({ way, disabled, onWay, children }: OpeningWaysProps) {
  const { t } = useTranslation("openers");
  return (
    <Stack $gap={4}>
      {children}
      <SpacedRow role="group" aria-label={t("ways.list_aria")}>
        {ways
          .filter((other) => other !== way)
          .map((other) => {
            const Icon = icons[other];
            return (
              <Button
                key={other}
                tone="plain"
                size="small"
                disabled={disabled}
                icon={<Icon aria-hidden />}
                onClick={() => {
                  onWay(other);
                }}
              >
                {t(`ways.${other}_action`)}
              </Button>
            );
          })}
      </SpacedRow>
    </Stack>
  );
}
