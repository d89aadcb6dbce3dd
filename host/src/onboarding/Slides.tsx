import * as Dialog from "@radix-ui/react-dialog";
import { Button, depths, s, slideMotion, space } from "@relicario/shared/ui";
import { AnimatePresence, m, useIsPresent } from "framer-motion";
import { useRef, useState, type ComponentType } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { RecoveryIllustration, DeviceIllustration, SealIllustration } from "./illustrations.tsx";
import { useSwipe } from "./swipe.ts";

/** Slides of a first visit on a phone (specification, section 2). */
const slides = [
  { name: "seal", Picture: SealIllustration },
  { name: "device", Picture: DeviceIllustration },
  { name: "back", Picture: RecoveryIllustration },
] as const;

type SlideName = (typeof slides)[number]["name"];

export interface SlidesProps {
  readonly onSkip: () => void;
  readonly onFinish: () => void;
}

/** Three full-screen slides with swipe, dots and buttons. Escape skips them. */
export function Slides({ onSkip, onFinish }: SlidesProps) {
  const { t } = useTranslation("joyride");
  const [{ activeIndex, direction }, setPosition] = useState({ activeIndex: 0, direction: 1 });
  const container = useRef<HTMLDivElement>(null);
  const isLast = activeIndex === slides.length - 1;
  const goTo = (target: number) => {
    const next = Math.max(0, Math.min(slides.length - 1, target));
    if (next !== activeIndex) setPosition({ activeIndex: next, direction: Math.sign(next - activeIndex) });
  };
  const swipe = useSwipe({
    onLeft: () => {
      goTo(activeIndex + 1);
    },
    onRight: () => {
      goTo(activeIndex - 1);
    },
  });
  const { name, Picture: Illustration } = slides[activeIndex] ?? slides[0];
  return (
    <Dialog.Root open onOpenChange={onSkip}>
      <Dialog.Portal>
        <Container
          {...swipe}
          ref={container}
          onInteractOutside={(event) => {
            event.preventDefault();
          }}
          onOpenAutoFocus={(event) => {
            event.preventDefault(); // otherwise the first control, "skip", would get the focus
            container.current?.focus();
          }}
        >
          <Skip type="button" onClick={onSkip}>
            {t("slides.skip_action")}
          </Skip>
          <SlideArea>
            <AnimatePresence initial={false} custom={direction}>
              <SlideFrame key={name} data-slide={name} custom={direction} {...slideMotion}>
                <Slide name={name} Illustration={Illustration} />
              </SlideFrame>
            </AnimatePresence>
          </SlideArea>
          <Dots aria-label={t("slides.dots_aria")}>
            {slides.map((slide, index) => (
              <li key={slide.name}>
                <Dot
                  type="button"
                  aria-label={t("slides.dot_aria", { number: index + 1, count: slides.length })}
                  aria-current={index === activeIndex ? "step" : undefined}
                  onClick={() => {
                    goTo(index);
                  }}
                />
              </li>
            ))}
          </Dots>
          <Button
            size="large"
            wide
            onClick={() => {
              if (isLast) onFinish();
              else goTo(activeIndex + 1);
            }}
          >
            {t(isLast ? "slides.finish_action" : "slides.next_action")}
          </Button>
        </Container>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/**
 * A slide is inert while it slides out, because the dialog already has the title and description of
 * the next slide.
 */
function Slide({ name, Illustration }: { readonly name: SlideName; readonly Illustration: ComponentType }) {
  const { t } = useTranslation("joyride");
  const isPresent = useIsPresent();
  const title = <Title>{t(`slides.${name}_title`)}</Title>;
  const body = <Body>{t(`slides.${name}_body`)}</Body>;
  return (
    <Column {...(!isPresent && { "aria-hidden": true })}>
      <Illustration />
      {isPresent ? <Dialog.Title asChild>{title}</Dialog.Title> : title}
      {isPresent ? <Dialog.Description asChild>{body}</Dialog.Description> : body}
    </Column>
  );
}

const Container = styled(Dialog.Content)`
  position: fixed;
  inset: 0;
  z-index: ${depths.dialog};
  display: flex;
  flex-direction: column;
  gap: ${space(4)};
  padding: ${space(4)} ${space(6)} calc(${space(6)} + env(safe-area-inset-bottom));
  background: ${s("background")};
  overflow-y: auto;
  touch-action: pan-y;
  -webkit-user-select: none;
  user-select: none;
  &:focus-visible {
    outline: none;
  }
`;

const Skip = styled.button`
  align-self: flex-end;
  min-width: 44px;
  min-height: 44px;
  padding: 0 ${space(2)};
  border: 0;
  background: none;
  color: ${s("accentText")};
  font-weight: 550;
  text-decoration: underline;
  text-underline-offset: 0.2em;
  border-radius: ${s("radius")};
  cursor: pointer;
`;

/** Slides overlap during a transition. */
const SlideArea = styled.div`
  display: grid;
  flex: 1 0 auto;
  margin: 0 -${space(6)};
  overflow: hidden;
`;

const SlideFrame = styled(m.div)`
  grid-area: 1 / 1;
`;

const Column = styled.div`
  display: flex;
  flex-direction: column;
  align-items: center;
  gap: ${space(4)};
  padding: clamp(${space(4)}, 10vh, ${space(24)}) ${space(6)} 0; /* top only: the illustration stays in place between slides */
  text-align: center;
  & > svg {
    width: min(240px, 60vw);
    height: auto;
    margin-bottom: ${space(4)};
  }
`;

const Title = styled.h2`
  font-size: ${s("textTitle")};
`;

const Body = styled.p`
  max-width: 34ch;
  color: ${s("textMuted")};
`;

const Dots = styled.ul`
  display: flex;
  justify-content: center;
`;

const Dot = styled.button`
  display: grid;
  place-items: center;
  width: 44px;
  height: 44px;
  border: 0;
  background: none;
  cursor: pointer;
  &::before {
    content: "";
    width: 10px;
    height: 10px;
    border-radius: ${s("radiusRound")};
    background: ${s("borderStrong")};
    transition: width 120ms;
  }
  &[aria-current="step"]::before {
    width: 26px;
    background: ${s("accent")};
  }
`;
