import { Eye, EyeOff } from "lucide-react";
import { useState, type ComponentPropsWithRef, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { css, styled } from "styled-components";

import { IconButton } from "../ui/Button.tsx";
import { Field, type CommonFieldProps } from "./Field.tsx";
import { s, space } from "../ui/tokens.ts";

export interface TextFieldProps extends CommonFieldProps, ComponentPropsWithRef<"input"> {
  /** Button for the input. It wraps below the input on narrow screens. */
  readonly action?: ReactNode;
}

export function TextField({ label, hint, error, optional = false, id, action, ...input }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} error={error} optional={optional} id={id}>
      {(attributes) => (
        <InputRow>
          <Input type="text" {...input} {...attributes} />
          {action}
        </InputRow>
      )}
    </Field>
  );
}

export interface TextAreaProps extends CommonFieldProps, ComponentPropsWithRef<"textarea"> {
  /** Whether the font is monospaced, for phrases and keys. */
  readonly mono?: boolean;
}

export function TextArea({ label, hint, error, optional = false, id, mono = false, ...area }: TextAreaProps) {
  return (
    <Field label={label} hint={hint} error={error} optional={optional} id={id}>
      {(attributes) => <Area rows={5} {...area} {...attributes} $mono={mono} />}
    </Field>
  );
}

/** Monospaced area for secret text, without autocorrection, spell check or autocomplete. */
export function SecretTextArea(area: Omit<TextAreaProps, "mono">) {
  return (
    <TextArea mono rows={6} autoComplete="off" autoCapitalize="none" autoCorrect="off" spellCheck={false} {...area} />
  );
}

export type PasswordFieldProps = Omit<TextFieldProps, "type" | "action">;

/**
 * Field for a password that is used exactly as typed: no trimming, autocorrection or autocomplete.
 */
export function PasswordField({ label, hint, error, optional = false, id, ...input }: PasswordFieldProps) {
  const { t } = useTranslation("common");
  const [visible, setVisible] = useState(false);
  return (
    <Field label={label} hint={hint} error={error} optional={optional} id={id}>
      {(attributes) => (
        <InputWithButton>
          <Input
            autoComplete="off"
            autoCapitalize="none"
            autoCorrect="off"
            spellCheck={false}
            {...input}
            {...attributes}
            type={visible ? "text" : "password"}
          />
          <IconButton
            label={t(visible ? "password.hide_action" : "password.show_action")}
            aria-controls={attributes.id}
            icon={visible ? <EyeOff aria-hidden /> : <Eye aria-hidden />}
            disabled={input.disabled}
            onClick={() => {
              setVisible(!visible);
            }}
          />
        </InputWithButton>
      )}
    </Field>
  );
}

const inputStyles = css`
  width: 100%;
  min-height: 44px;
  padding: ${space(2)} ${space(3)};
  border: 1px solid ${s("borderStrong")};
  border-radius: ${s("radius")};
  background: ${s("surface")};
  color: ${s("text")};
  &::placeholder {
    color: ${s("textMuted")};
    opacity: 1;
  }
  &:focus-visible {
    outline: 2px solid ${s("focus")};
    outline-offset: 0;
    border-color: ${s("focus")};
  }
  &[aria-invalid="true"] {
    border-color: ${s("danger")};
  }
  &:disabled {
    background: ${s("surfaceSunken")};
    color: ${s("textMuted")};
    cursor: not-allowed;
  }
`;

const Input = styled.input`
  ${inputStyles}
`;

const Area = styled.textarea<{ readonly $mono: boolean }>`
  ${inputStyles}
  display: block;
  resize: vertical;
  line-height: 1.6;
  ${({ $mono }) =>
    $mono &&
    css`
      font-family: ${s("fontMono")};
      font-size: 0.95rem;
    `}
`;

const InputRow = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(2)} ${space(3)};
  & > input {
    flex: 1 1 ${space(55)};
    min-width: 0;
  }
`;

const InputWithButton = styled.div`
  position: relative;
  & > input {
    padding-right: ${space(13)};
  }
  & > button {
    position: absolute;
    top: 0;
    right: 0;
  }
`;
