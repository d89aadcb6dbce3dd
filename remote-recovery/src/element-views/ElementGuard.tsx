import { Notice, Stack } from "@relicario/shared/ui";
import { useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { PressGuardContext, sightMilliseconds } from "../openers/GuardedButton.tsx";
import { guardFocus, type FocusLoss } from "./guard-focus.ts";
import { watchSight } from "./watch-sight.ts";

interface ElementGuardProps {
  /** Whether presses need an element that nothing covers. */
  readonly tracksCover: boolean;
  readonly children: ReactNode;
}

/**
 * Guards an element against script of the page that frames it: takes back the focus, and lets no
 * press count that may be an accident. Says both in the element.
 */
export function ElementGuard({ tracksCover, children }: ElementGuardProps) {
  const { t } = useTranslation("openers");
  const area = useRef<HTMLSpanElement>(null);
  const [focusLoss, setFocusLoss] = useState<FocusLoss | null>(null);
  const [inSightSince, setInSightSince] = useState<number | null>(null);
  const [readySince, setReadySince] = useState<number | null>(null);
  const isReady = inSightSince !== null && readySince === inSightSince;
  const [isPressIgnored, setPressIgnored] = useState(false);
  useEffect(() => guardFocus({ onTaken: setFocusLoss }), []);
  useEffect(
    () => (area.current === null ? undefined : watchSight(area.current, tracksCover, setInSightSince)),
    [tracksCover],
  );
  useEffect(() => {
    if (inSightSince === null) return undefined;
    const timer = setTimeout(() => {
      setReadySince(inSightSince);
    }, sightMilliseconds);
    return () => {
      clearTimeout(timer);
    };
  }, [inSightSince]);
  const guard = useMemo(
    () => ({
      inSightSince,
      isReady,
      onPress: (isCounted: boolean) => {
        setPressIgnored(!isCounted);
      },
    }),
    [inSightSince, isReady],
  );
  return (
    <PressGuardContext value={guard}>
      <Box $gap={3}>
        {children}
        {focusLoss !== null && (
          <Notice tone="warn" role="alert">
            {t(`guard.focus_${focusLoss}_body`)}
          </Notice>
        )}
        {isPressIgnored && (
          <Notice tone="warn" role="alert">
            {t("guard.press_ignored_body")}
          </Notice>
        )}
        <Area ref={area} aria-hidden />
      </Box>
    </PressGuardContext>
  );
}

const Box = styled(Stack)`
  position: relative;
`;

/** Lies above all else in the element, since browsers count what an area contains as a cover. */
const Area = styled.span`
  position: absolute;
  inset: 0;
  z-index: 1;
  pointer-events: none;
`;
