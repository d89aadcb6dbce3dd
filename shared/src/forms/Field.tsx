import { CircleAlert } from "lucide-react";
import { useId, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { s, space } from "../ui/tokens.ts";

export interface FieldProps {
  readonly label: ReactNode;
  /** What to type, and why; read out with the field. */
  readonly hint?: ReactNode;
  /** What is wrong, in words. */
  readonly error?: string | null | undefined;
  /** Says "optional" beside the label. */
  readonly optional?: boolean;
}

/** What a control takes so that label, hint and error belong to it. */
export interface ControlAttributes {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": true | undefined;
}

interface FieldWithControlProps extends FieldProps {
  /** When the control has an id already. */
  readonly id?: string | undefined;
  readonly children: (attributes: ControlAttributes) => ReactNode;
}

/** A labelled control with its hint and its error. */
export function Field({ label, hint, error, optional = false, id: explicitId, children }: FieldWithControlProps) {
  const { t } = useTranslation("common");
  const generatedId = useId();
  const id = explicitId ?? generatedId;
  const hintId = hint === undefined ? null : `${id}-hint`;
  const errorId = error == null || error === "" ? null : `${id}-error`;
  const describedBy = [errorId, hintId].filter((descriptionId) => descriptionId !== null).join(" ");
  return (
    <FieldBox>
      <LabelRow>
        <Label htmlFor={id}>{label}</Label>
        {optional && <Optional>{t("field.optional_hint")}</Optional>}
      </LabelRow>
      {hintId !== null && <Hint id={hintId}>{hint}</Hint>}
      {children({
        id,
        "aria-describedby": describedBy === "" ? undefined : describedBy,
        "aria-invalid": errorId === null ? undefined : true,
      })}
      {errorId !== null && <FieldError id={errorId}>{error}</FieldError>}
    </FieldBox>
  );
}

interface FieldErrorProps {
  readonly id?: string;
  readonly children: ReactNode;
}

/** An error beside what it is about. */
export function FieldError({ id, children }: FieldErrorProps) {
  return (
    <ErrorLine id={id} role="alert">
      <CircleAlert aria-hidden size={16} />
      <span>{children}</span>
    </ErrorLine>
  );
}

const FieldBox = styled.div`
  display: flex;
  flex-direction: column;
  gap: ${space(1.5)};
  min-width: 0;
`;

const LabelRow = styled.div`
  display: flex;
  align-items: baseline;
  justify-content: space-between;
  gap: ${space(3)};
`;

export const Label = styled.label`
  font-weight: 600;
`;

const Optional = styled.span`
  color: ${s("textMuted")};
  font-size: ${s("textSmall")};
`;

export const Hint = styled.p`
  color: ${s("textMuted")};
  font-size: ${s("textSmall")};
  max-width: ${s("lineLength")};
`;

const ErrorLine = styled.p`
  display: flex;
  align-items: flex-start;
  gap: ${space(1.5)};
  color: ${s("dangerText")};
  font-size: ${s("textSmall")};
  font-weight: 500;
  & > svg {
    flex: none;
    margin-top: 2px;
  }
`;
