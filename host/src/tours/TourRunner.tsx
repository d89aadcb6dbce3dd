import { Button, depths, IconButton, s, space } from "@relicario/shared/ui";
import { X } from "lucide-react";
import { useTranslation } from "react-i18next";
import { ACTIONS, EVENTS, Joyride, STATUS, type EventData, type Step, type TooltipRenderProps } from "react-joyride";
import { styled } from "styled-components";

import { isInFrame } from "./host-tours.ts";
import { readStyleNonce, tourAppearance } from "./appearance.ts";
import type { Tour } from "./tour-state.ts";
import { buildTargetSelector } from "./targets.ts";

export interface TourRunnerProps {
  readonly steps: Tour["steps"];
  /** False while the tour is paused. It then continues at the same step. */
  readonly running: boolean;
  readonly onSkip: () => void;
  readonly onFinish: () => void;
}

/** Shows a tour step by step. Its code is fetched when a tour starts. */
export function TourRunner({ steps, running, onSkip, onFinish }: TourRunnerProps) {
  const { t } = useTranslation("joyride");
  const handleEvent = ({ type, action, status }: EventData, controls: { readonly skip: () => void }) => {
    // Escape and the close button end the tour; by default the library closes only the step.
    if (type === EVENTS.STEP_AFTER && action === ACTIONS.CLOSE) controls.skip();
    if (type !== EVENTS.TOUR_END) return;
    if (status === STATUS.SKIPPED) onSkip();
    else onFinish();
  };
  return (
    <Joyride
      continuous
      run={running}
      steps={steps.map(({ target, titleKey, bodyKey }): Step => ({
        target: buildTargetSelector(target),
        title: t(titleKey),
        content: t(bodyKey),
        placement: target === "layout-main" ? "center" : "auto",
        isFixed: isInFrame(target), // otherwise the library scrolls the page for an element that is always visible
      }))}
      nonce={readStyleNonce()}
      onEvent={handleEvent}
      tooltipComponent={Tooltip}
      loaderComponent={null}
      options={{
        ...tourAppearance,
        skipBeacon: true,
        overlayClickAction: false,
        closeButtonAction: "skip",
        blockTargetInteraction: true,
        overlayColor: s("overlay"),
        arrowColor: s("surfaceRaised"),
        zIndex: depths.tour,
      }}
    />
  );
}

function Tooltip({ index, size, isLastStep, step, controls, tooltipProps }: TooltipRenderProps) {
  const { t } = useTranslation(["joyride", "common"]);
  return (
    <Sheet {...tooltipProps} role="dialog" aria-labelledby="tour-title" aria-describedby="tour-body">
      <Title id="tour-title">{step.title}</Title>
      <p id="tour-body">{step.content}</p>
      <Footer>
        <StepStatus role="status">{t("joyride:place_status", { number: index + 1, count: size })}</StepStatus>
        {index > 0 && (
          <Button tone="quiet" size="small" onClick={() => controls.prev()}>
            {t("joyride:back_action")}
          </Button>
        )}
        <Button size="small" onClick={() => controls.next()} data-action="primary" /* the library focuses it */>
          {t(isLastStep ? "joyride:finish_action" : "joyride:next_action")}
        </Button>
      </Footer>
      <CloseButton label={t("joyride:skip_action")} icon={<X aria-hidden />} onClick={() => controls.skip()} />
    </Sheet>
  );
}

const Sheet = styled.div`
  position: relative;
  display: flex;
  flex-direction: column;
  gap: ${space(3)};
  width: ${tourAppearance.width}px;
  max-width: calc(100vw - ${space(8)});
  padding: ${space(5)};
  border: 1px solid ${s("border")};
  border-radius: ${s("radius")};
  background: ${s("surfaceRaised")};
  color: ${s("text")};
  box-shadow: ${s("shadowRaised")};
  & > p {
    color: ${s("textMuted")};
  }
`;

const Title = styled.h2`
  padding-right: ${space(10)};
  font-size: ${s("textLarge")};
`;

const Footer = styled.div`
  display: flex;
  align-items: center;
  justify-content: flex-end;
  gap: ${space(2)};
  margin-top: ${space(1)};
`;

const StepStatus = styled.span`
  margin-right: auto;
  color: ${s("textMuted")};
  font-size: ${s("textSmall")};
`;

const CloseButton = styled(IconButton)`
  position: absolute;
  top: ${space(2)};
  right: ${space(2)};
`;
