import { depths } from "@relicario/shared/ui";
import { useEffect, useRef } from "react";
import { styled } from "styled-components";

/** `ticks` are frames: 120 take two seconds at 60 frames per second. */
const confettiOptions = { particleCount: 100, ticks: 120, spread: 100, startVelocity: 40, origin: { y: 0.7 } } as const;

/** Covers the page with confetti and ignores pointer events. Draws nothing with reduced motion. */
export function Confetti() {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    let stop: (() => void) | null = null;
    let unmounted = false;
    import(/* webpackChunkName: "confetti" */ "canvas-confetti").then(
      ({ default: library }) => {
        if (unmounted || canvas.current === null) return;
        // The library's worker needs a blob script, which the content security policy rejects.
        const fire = library.create(canvas.current, { resize: true, useWorker: false, disableForReducedMotion: true });
        void fire(confettiOptions);
        stop = () => {
          fire.reset();
        };
      },
      () => undefined, // decoration only: ignore a failed load
    );
    return () => {
      unmounted = true;
      stop?.();
    };
  }, []);
  return <Overlay ref={canvas} aria-hidden />;
}

const Overlay = styled.canvas`
  position: fixed;
  inset: 0;
  z-index: ${depths.tour};
  width: 100%;
  height: 100%;
  pointer-events: none;
`;
