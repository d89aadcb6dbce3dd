import { depths, s, space } from "@relicario/shared/ui";
import confetti from "canvas-confetti";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { celebration } from "./appearance.ts";

/**
 * Shown for three seconds at the end of the first tour, with two seconds of confetti. It has no
 * confetti or motion for people who prefer reduced motion.
 */
export function Celebration({ onEnd }: { readonly onEnd: () => void }) {
  const { t } = useTranslation("joyride");
  const canvas = useRef<HTMLCanvasElement>(null);
  const handleEnd = useRef(onEnd);
  useEffect(() => {
    handleEnd.current = onEnd;
  }, [onEnd]);

  useEffect(() => {
    if (canvas.current === null) return undefined;
    // The library's worker would need a blob script, which the content security policy refuses.
    const fire = confetti.create(canvas.current, { resize: true, useWorker: false, disableForReducedMotion: true });
    void fire({
      particleCount: celebration.pieces,
      colors: [...celebration.colors],
      ticks: celebration.frames,
      spread: 100,
      startVelocity: 40,
      origin: { y: 0.7 },
    });
    const timer = setTimeout(() => {
      handleEnd.current();
    }, celebration.durationMilliseconds);
    return () => {
      clearTimeout(timer);
      fire.reset();
    };
  }, []);

  return (
    <Cover>
      <Canvas ref={canvas} aria-hidden />
      <Words role="status">{t("celebration_status")}</Words>
    </Cover>
  );
}

const Cover = styled.div`
  position: fixed;
  inset: 0;
  z-index: ${depths.tour};
  display: grid;
  place-items: center;
  pointer-events: none;
`;

const Canvas = styled.canvas`
  position: absolute;
  inset: 0;
  width: 100%;
  height: 100%;
`;

/** Readable above the confetti. */
const Words = styled.p`
  position: relative;
  padding: ${space(4)} ${space(6)};
  border: 1px solid ${s("border")};
  border-radius: ${s("radius")};
  background: ${s("surfaceRaised")};
  box-shadow: ${s("shadowRaised")};
  font-size: ${s("textLarge")};
`;
