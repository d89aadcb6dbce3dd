import { Eye, EyeOff } from "lucide-react";
import { useState, type ComponentPropsWithRef, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { css, styled } from "styled-components";

import { IconButton } from "../ui/Button.tsx";
import { Field, type FieldProps } from "./Field.tsx";
import { s, space } from "../ui/tokens.ts";

export interface TextFieldProps extends FieldProps, ComponentPropsWithRef<"input"> {
  /** A button that acts on what is typed; below the input where there is no room. */
  readonly beside?: ReactNode;
}

export function TextField({ label, hint, error, optional = false, id, beside, ...input }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} error={error} optional={optional} id={id}>
      {(wiring) => (
        <Beside>
          <Input type="text" {...input} {...wiring} />
          {beside}
        </Beside>
      )}
    </Field>
  );
}

export interface TextAreaProps extends FieldProps, ComponentPropsWithRef<"textarea"> {
  /** Letters of equal width, for phrases and keys. */
  readonly mono?: boolean;
}

export function TextArea({ label, hint, error, optional = false, id, mono = false, ...area }: TextAreaProps) {
  return (
    <Field label={label} hint={hint} error={error} optional={optional} id={id}>
      {(wiring) => <Area rows={5} {...area} {...wiring} $mono={mono} />}
    </Field>
  );
}

/** A secret as text, in letters of equal width: nothing corrects, checks or remembers it. */
export function SecretTextArea(area: Omit<TextAreaProps, "mono">) {
  return (
    <TextArea mono rows={6} autoComplete="off" autoCapitalize="none" autoCorrect="off" spellCheck={false} {...area} />
  );
}

export type PasswordFieldProps = Omit<TextFieldProps, "type" | "beside">;

/** Used exactly as typed: nothing trims, corrects or remembers it. */
export function PasswordField({ label, hint, error, optional = false, id, ...input }: PasswordFieldProps) {
  const { t } = useTranslation("common");
  const [shown, setShown] = useState(false);
  return (
    <Field label={label} hint={hint} error={error} optional={optional} id={id}>
      {(wiring) => (
        <Joined>
          <Input
            autoComplete="off"
            autoCapitalize="none"
            autoCorrect="off"
            spellCheck={false}
            {...input}
            {...wiring}
            type={shown ? "text" : "password"}
          />
          <IconButton
            label={t(shown ? "password.hide_action" : "password.show_action")}
            aria-controls={wiring.id}
            icon={shown ? <EyeOff aria-hidden /> : <Eye aria-hidden />}
            disabled={input.disabled}
            onClick={() => {
              setShown(!shown);
            }}
          />
        </Joined>
      )}
    </Field>
  );
}

export const inputLook = css`
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
  ${inputLook}
`;

const Area = styled.textarea<{ readonly $mono: boolean }>`
  ${inputLook}
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

const Beside = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(2)} ${space(3)};
  & > input {
    flex: 1 1 ${space(55)};
    min-width: 0;
  }
`;

const Joined = styled.div`
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
