import { Check } from "lucide-react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { VisuallyHidden, visuallyHidden } from "../ui/layout.tsx";
import { media, s, space } from "../ui/tokens.ts";

export interface StepperProps {
  readonly label: string;
  readonly steps: readonly string[];
  /** Index of the current step. */
  readonly currentStep: number;
}

/** Shows the progress through several screens. */
export function Stepper({ label, steps, currentStep }: StepperProps) {
  const { t } = useTranslation("common");
  return (
    <Steps aria-label={label}>
      {steps.map((step, index) => (
        <Step
          key={step}
          aria-current={index === currentStep ? "step" : undefined}
          data-state={index < currentStep ? "done" : index === currentStep ? "current" : "coming"}
        >
          <Dot aria-hidden>{index < currentStep ? <Check size={14} /> : index + 1}</Dot>
          <span data-words>
            {step}
            {index < currentStep && <VisuallyHidden> {t("stepper.done_status")}</VisuallyHidden>}
          </span>
        </Step>
      ))}
    </Steps>
  );
}

const Steps = styled.ol`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(2)} ${space(5)};
  ${media.mobile} {
    column-gap: ${space(2)}; /* six steps fit into 320 px */
  }
`;

const Step = styled.li`
  display: flex;
  align-items: center;
  gap: ${space(2)};
  font-size: ${s("textSmall")};
  color: ${s("textMuted")};
  &[data-state="current"] {
    color: ${s("text")};
    font-weight: 600;
  }
  /* On a phone the words of the other steps would take a second line; screen readers have them all. */
  ${media.mobile} {
    &:not([data-state="current"]) > [data-words] {
      ${visuallyHidden}
    }
  }
`;

const Dot = styled.span`
  display: grid;
  place-items: center;
  flex: none;
  width: 24px;
  height: 24px;
  border: 1px solid ${s("borderStrong")};
  border-radius: 50%;
  font-size: ${s("textTiny")};
  [data-state="current"] > & {
    background: ${s("accent")};
    border-color: ${s("accent")};
    color: ${s("onAccent")};
  }
  [data-state="done"] > & {
    border-color: ${s("accent")};
    color: ${s("accentText")};
  }
`;
