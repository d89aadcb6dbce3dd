import { ChevronDown } from "lucide-react";
import type { ComponentPropsWithRef } from "react";
import { styled } from "styled-components";

import { s, space } from "../ui/tokens.ts";
import { Field, type CommonFieldProps } from "./Field.tsx";

export interface SelectFieldProps
  extends CommonFieldProps, Omit<ComponentPropsWithRef<"select">, "onChange" | "value"> {
  readonly value: string;
  readonly choices: readonly { readonly value: string; readonly label: string }[];
  readonly onChange: (value: string) => void;
}

/** A native `select`, which brings its keyboard and touch behaviour. */
export function SelectField({ label, hint, error, choices, value, onChange, ...select }: SelectFieldProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(attributes) => (
        <SelectWrapper>
          <Select
            {...select}
            {...attributes}
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
          <ChevronDown aria-hidden size={18} />
        </SelectWrapper>
      )}
    </Field>
  );
}

const SelectWrapper = styled.div`
  position: relative;
  min-width: 0;
  & > svg {
    position: absolute;
    top: calc(50% - 9px);
    right: ${space(3)};
    color: ${s("textMuted")};
    pointer-events: none;
  }
`;

const Select = styled.select`
  appearance: none;
  width: 100%;
  min-height: 44px;
  padding: ${space(2)} ${space(10)} ${space(2)} ${space(3)};
  border: 1px solid ${s("borderStrong")};
  border-radius: ${s("radius")};
  background: ${s("surface")};
  color: ${s("text")};
  text-overflow: ellipsis;
  &:focus-visible {
    outline: 2px solid ${s("focus")};
    border-color: ${s("focus")};
  }
`;
