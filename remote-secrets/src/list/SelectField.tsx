import { Field, s, space, type FieldProps } from "@relicario/shared/ui";
import type { ComponentPropsWithRef } from "react";
import styled from "styled-components";

interface SelectFieldProps extends FieldProps, Omit<ComponentPropsWithRef<"select">, "onChange" | "value"> {
  readonly value: string;
  readonly choices: readonly { readonly value: string; readonly label: string }[];
  readonly onChange: (value: string) => void;
}

/** One of several, as the browser's own list: right on every device and by keyboard. */
export function SelectField({ label, hint, error, choices, value, onChange, ...select }: SelectFieldProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(wiring) => (
        <Select
          {...select}
          {...wiring}
          value={value}
          onChange={(event) => {
            onChange(event.target.value);
          }}
        >
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.label}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}

const Select = styled.select`
  width: 100%;
  min-height: 44px;
  padding: ${space(2)} ${space(3)};
  border: 1px solid ${s("borderStrong")};
  border-radius: ${s("radius")};
  background: ${s("surface")};
  color: ${s("text")};
  text-overflow: ellipsis;
  &:focus-visible { outline: 2px solid ${s("focus")}; border-color: ${s("focus")}; }
`;
