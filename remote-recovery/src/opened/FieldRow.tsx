import { s, space, SpacedRow } from "@relicario/shared/ui";
import { Eye, EyeOff } from "lucide-react";
import { useId, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { css, styled } from "styled-components";

import { GuardedButton } from "../openers/GuardedButton.tsx";

interface FieldRowProps {
  readonly label: string;
  readonly value: ReactNode;
  readonly actions: ReactNode;
}

/** A field of an opened record: a group with the field's label as its name. */
export function FieldRow({ label, value, actions }: FieldRowProps) {
  const id = useId();
  return (
    <FieldBox role="group" aria-labelledby={id}>
      <Label id={id} dir="auto" translate="no">
        {label}
      </Label>
      {value}
      <SpacedRow $gap={2} $align="start">
        {actions}
      </SpacedRow>
    </FieldBox>
  );
}

interface RevealButtonProps {
  readonly revealed: boolean;
  readonly onChange: (revealed: boolean) => void;
}

export function RevealButton({ revealed, onChange }: RevealButtonProps) {
  const { t } = useTranslation("common");
  return (
    <GuardedButton
      tone="quiet"
      size="small"
      icon={revealed ? <EyeOff aria-hidden /> : <Eye aria-hidden />}
      onClick={() => {
        onChange(!revealed);
      }}
    >
      {t(revealed ? "reveal.hide_action" : "reveal.show_action")}
    </GuardedButton>
  );
}

export function HiddenValue() {
  const { t } = useTranslation("common");
  return (
    <Hidden data-state="hidden">
      <EyeOff aria-hidden size={16} />
      {t("record.hidden_body")}
    </Hidden>
  );
}

const FieldBox = styled.div`
  display: flex;
  flex-direction: column;
  gap: ${space(2)};
  min-width: 0;
  padding: ${space(4)};
  & + & {
    border-top: 1px solid ${s("border")};
  }
`;

const Label = styled.span`
  color: ${s("textMuted")};
  font-size: ${s("textSmall")};
  font-weight: 600;
  overflow-wrap: anywhere;
`;

export const Value = styled.div.attrs({ translate: "no" })<{ readonly $mono?: boolean }>`
  white-space: pre-wrap;
  overflow-wrap: anywhere;
  ${({ $mono }) =>
    $mono === true &&
    css`
      font-family: ${s("fontMono")};
    `}
`;

const Hidden = styled.div`
  display: flex;
  align-items: center;
  gap: ${space(2)};
  color: ${s("textMuted")};
`;
