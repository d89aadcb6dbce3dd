import type { ComponentPropsWithRef, ReactNode } from "react";
import { styled } from "styled-components";

import { s, space } from "../ui/tokens.ts";
import { FieldError } from "./Field.tsx";

export interface CheckboxProps extends Omit<ComponentPropsWithRef<"input">, "type"> {
  readonly label: ReactNode;
  readonly error?: string | null | undefined;
}

export function Checkbox({ label, error, ...input }: CheckboxProps) {
  return (
    <div>
      <CheckRow>
        <input type="checkbox" aria-invalid={error == null ? undefined : true} {...input} />
        <span>{label}</span>
      </CheckRow>
      {error != null && <FieldError>{error}</FieldError>}
    </div>
  );
}

export interface Choice<Value extends string> {
  readonly value: Value;
  readonly label: string;
  readonly hint?: string;
  readonly icon?: ReactNode;
  /** Shown inside the card while it is chosen. */
  readonly detail?: ReactNode;
}

export interface ChoiceGroupProps<Value extends string> {
  readonly legend: string;
  readonly name: string;
  readonly choices: readonly Choice<Value>[];
  readonly value: Value | null;
  readonly onChange: (value: Value) => void;
  readonly disabled?: boolean;
}

/** Radio group of cards, each with an explanation. */
export function ChoiceGroup<Value extends string>({
  legend,
  name,
  choices,
  value,
  onChange,
  disabled = false,
}: ChoiceGroupProps<Value>) {
  return (
    <Group disabled={disabled}>
      <Legend>{legend}</Legend>
      {choices.map((choice) => (
        <ChoiceCard key={choice.value} data-checked={choice.value === value}>
          <ChoiceRow>
            <input
              type="radio"
              name={name}
              value={choice.value}
              checked={choice.value === value}
              aria-describedby={choice.hint === undefined ? undefined : `${name}-${choice.value}-hint`}
              aria-labelledby={`${name}-${choice.value}-label`}
              onChange={() => {
                onChange(choice.value);
              }}
            />
            <span>
              <ChoiceLabel id={`${name}-${choice.value}-label`}>{choice.label}</ChoiceLabel>
              {choice.hint !== undefined && <ChoiceHint id={`${name}-${choice.value}-hint`}>{choice.hint}</ChoiceHint>}
            </span>
          </ChoiceRow>
          {choice.value === value && choice.detail !== undefined && <ChoiceDetail>{choice.detail}</ChoiceDetail>}
        </ChoiceCard>
      ))}
    </Group>
  );
}

export interface SwitchProps {
  readonly label: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly disabled?: boolean;
}

/** Switch that takes effect immediately. */
export function Switch({ label, checked, onChange, disabled = false }: SwitchProps) {
  return (
    <SwitchBox
      type="button"
      role="switch"
      aria-checked={checked}
      disabled={disabled}
      onClick={() => {
        onChange(!checked);
      }}
    >
      <Track data-checked={checked} aria-hidden />
      <span>{label}</span>
    </SwitchBox>
  );
}

const CheckRow = styled.label`
  display: flex;
  align-items: flex-start;
  gap: ${space(3)};
  padding: ${space(2)} 0;
  min-height: 44px;
  max-width: ${s("lineLength")};
  cursor: pointer;
  & > input {
    flex: none;
    width: 20px;
    height: 20px;
    margin: 2px 0 0;
    accent-color: ${s("accent")};
  }
`;

const Group = styled.fieldset`
  display: flex;
  flex-direction: column;
  gap: ${space(2)};
`;

const Legend = styled.legend`
  margin-bottom: ${space(2)};
  font-weight: 600;
`;

const ChoiceCard = styled.div`
  border: 1px solid ${s("border")};
  border-radius: ${s("radius")};
  background: ${s("surface")};
  &[data-checked="true"] {
    border-color: ${s("accent")};
    box-shadow: inset 0 0 0 1px ${s("accent")};
  }
`;

const ChoiceDetail = styled.div`
  padding: 0 ${space(4)} ${space(4)};
`;

const ChoiceRow = styled.label`
  display: flex;
  align-items: flex-start;
  gap: ${space(3)};
  padding: ${space(3)} ${space(4)};
  min-height: 44px;
  cursor: pointer;
  & > input {
    flex: none;
    width: 20px;
    height: 20px;
    margin: 2px 0 0;
    accent-color: ${s("accent")};
  }
  & > span {
    min-width: 0;
  }
`;

const ChoiceLabel = styled.span`
  display: block;
  font-weight: 550;
`;

const ChoiceHint = styled.span`
  display: block;
  color: ${s("textMuted")};
  font-size: ${s("textSmall")};
`;

const SwitchBox = styled.button`
  display: inline-flex;
  align-items: center;
  gap: ${space(3)};
  min-height: 44px;
  padding: 0 ${space(1)};
  border: 0;
  border-radius: ${s("radius")};
  background: transparent;
  text-align: start;
  cursor: pointer;
  &:disabled {
    opacity: 0.55;
    cursor: not-allowed;
  }
`;

const Track = styled.span`
  position: relative;
  flex: none;
  width: 40px;
  height: 24px;
  border: 1px solid ${s("borderStrong")};
  border-radius: ${s("radiusRound")};
  background: ${s("surfaceSunken")};
  transition: background-color 120ms ease;
  &::after {
    content: "";
    position: absolute;
    top: 3px;
    left: 3px;
    width: 16px;
    height: 16px;
    border-radius: 50%;
    background: ${s("borderStrong")};
    transition: transform 120ms ease;
  }
  &[data-checked="true"] {
    background: ${s("accent")};
    border-color: ${s("accent")};
  }
  &[data-checked="true"]::after {
    transform: translateX(16px);
    background: ${s("onAccent")};
  }
`;
