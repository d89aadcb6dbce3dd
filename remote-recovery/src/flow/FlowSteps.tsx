import { Stepper } from "@relicario/shared/forms";
import { SmallText, Stack } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

/** The screens of a flow in their order. Texts: `welcome:<flow>.<step>_label`. */
const flows = {
  backup: ["start", "picture", "secret", "processing", "safeguard", "congrats"],
  recovery: ["start", "picture", "processing", "congrats"],
} as const;

type FlowStepsProps =
  | { readonly flow: "backup"; readonly step: (typeof flows.backup)[number] }
  | { readonly flow: "recovery"; readonly step: (typeof flows.recovery)[number] };

/** Where the person is in a flow, in words and in numbers. */
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
        current={progressStep - 1}
      />
    </Stack>
  );
}
