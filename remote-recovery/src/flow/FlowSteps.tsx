import { Stepper } from "@relicario/shared/forms";
import { SmallText, Stack } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

/** Screens of each flow in order. Texts: `welcome:<flow>.<step>_label`. */
const flows = {
  backup: ["start", "picture", "secret", "processing", "safeguard", "congrats"],
  recovery: ["start", "picture", "processing", "congrats"],
} as const;

type FlowStepsProps =
  | { readonly flow: "backup"; readonly step: (typeof flows.backup)[number] }
  | { readonly flow: "recovery"; readonly step: (typeof flows.recovery)[number] };

/** Position in a flow, as text and as a stepper. */
export function FlowSteps({ flow, step }: FlowStepsProps) {
  const { t } = useTranslation("welcome");
  const names: readonly string[] = flows[flow];
  const progressStep = names.indexOf(step) + 1;
  const totalSteps = names.length;
  return (
    <Stack $gap={2}>
      <SmallText>{t("flow.place_status", { step: progressStep, total: totalSteps })}</SmallText>
      <Stepper
        label={t(`${flow}.list_aria`)}
        steps={names.map((name) => t(`${flow}.${name}_label`))}
        currentStep={progressStep - 1}
      />
    </Stack>
  );
}
