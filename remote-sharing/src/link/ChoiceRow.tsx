import { FieldError, Hint } from "@relicario/shared/forms";
import { s, space } from "@relicario/shared/ui";
import { useId } from "react";
import { styled } from "styled-components";

interface ChoiceRowProps<Value extends string> {
  readonly legend: string;
  readonly hint?: string;
  readonly choices: readonly { readonly value: Value; readonly label: string }[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  readonly disabled?: boolean;
  readonly error?: string | null;
}

export function ChoiceRow<Value extends string>({
  legend,
  hint,
  choices,
  value,
  onChange,
  disabled = false,
  error = null,
}: ChoiceRowProps<Value>) {
  const name = useId();
  return (
    <Group disabled={disabled} aria-describedby={hint === undefined ? undefined : `${name}-hint`}>
      <legend>{legend}</legend>
      {hint !== undefined && <Hint id={`${name}-hint`}>{hint}</Hint>}
      <Chips>
        {choices.map((choice) => (
          <label key={choice.value} data-checked={choice.value === value}>
            <input
              type="radio"
              name={name}
              value={choice.value}
              checked={choice.value === value}
              onChange={() => {
                onChange(choice.value);
              }}
            />
            <span>{choice.label}</span>
          </label>
        ))}
      </Chips>
      {error !== null && <FieldError>{error}</FieldError>}
    </Group>
  );
}

const Group = styled.fieldset`
  display: flex;
  flex-direction: column;
  gap: ${space(2)};
  min-width: 0;
  & > legend {
    margin-bottom: ${space(2)};
    font-weight: 600;
  }
`;

const Chips = styled.div`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(2)};
  & > label {
    position: relative;
    display: inline-flex;
    align-items: center;
    min-height: 44px;
    padding: 0 ${space(4)};
    border: 1px solid ${s("border")};
    border-radius: ${s("radiusRound")};
    background: ${s("surface")};
    cursor: pointer;
  }
  & > label[data-checked="true"] {
    border-color: ${s("accent")};
    box-shadow: inset 0 0 0 1px ${s("accent")};
    background: ${s("accentSoft")};
  }
  & > label:has(:focus-visible) {
    outline: 2px solid ${s("focus")};
    outline-offset: 2px;
  }
  & input {
    position: absolute;
    inset: 0;
    margin: 0;
    opacity: 0;
    cursor: pointer;
  }
`;
