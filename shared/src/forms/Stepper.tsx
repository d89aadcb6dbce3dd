import { Check } from "lucide-react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { VisuallyHidden, visuallyHidden } from "../ui/layout.tsx";
import { media, s, space } from "../ui/tokens.ts";

export interface StepperProps {
  readonly label: string;
  readonly steps: readonly string[];
  /** Index of the step that the person is at. */
  readonly current: number;
}

/** Where the person is in a flow of several screens. */
export function Stepper({ label, steps, current }: StepperProps) {
  const { t } = useTranslation("common");
  return (
    <Steps aria-label={label}>
      {steps.map((step, index) => (
        <Step
          key={step}
          aria-current={index === current ? "step" : undefined}
          data-state={index < current ? "done" : index === current ? "current" : "coming"}
        >
          <Dot aria-hidden>{index < current ? <Check size={14} /> : index + 1}</Dot>
          <span data-words>
            {step}
            {index < current && <VisuallyHidden> {t("stepper.done_status")}</VisuallyHidden>}
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
