import { depths } from "@relicario/shared/ui";
import { useEffect, useRef } from "react";
import { styled } from "styled-components";

/** Two seconds of it at sixty frames a second. */
const confettiOptions = { particleCount: 100, ticks: 120, spread: 100, startVelocity: 40, origin: { y: 0.7 } } as const;

/** Over the page, and out of its way. None for people who want no motion; nothing waits for it. */
export function Confetti() {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    let stop: (() => void) | null = null;
    let unmounted = false;
    import(/* webpackChunkName: "confetti" */ "canvas-confetti").then(
      ({ default: library }) => {
        if (unmounted || canvas.current === null) return;
        // A worker of the library's would need a blob script that the content security policy
        // refuses.
        const fire = library.create(canvas.current, { resize: true, useWorker: false, disableForReducedMotion: true });
        void fire(confettiOptions);
        stop = () => {
          fire.reset();
        };
      },
      () => undefined, // it did not load: the page says all of it without
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
