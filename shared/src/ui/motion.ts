import { css, keyframes } from "styled-components";

/** The spring of modals (specification, section 9), of mass 1. */
export const spring = { stiffness: 400, damping: 17 } as const;

/** How long the spring is drawn, in milliseconds: until it is within half a per cent of where it goes. */
export const springMilliseconds = Math.ceil((1000 * Math.log(200)) / (spring.damping / 2));

/**
 * Where a spring stands, from 0 at its start to 1 at rest, at a moment in milliseconds: the closed form of an underdamped
 * spring that begins without speed.
 */
export function springAt(milliseconds: number, { stiffness, damping }: { readonly stiffness: number; readonly damping: number } = spring): number {
  const decay = damping / 2;
  const frequency = Math.sqrt(stiffness - decay * decay);
  const seconds = milliseconds / 1000;
  return 1 - Math.exp(-decay * seconds) * (Math.cos(frequency * seconds) + (decay / frequency) * Math.sin(frequency * seconds));
}

/** The spring as an easing that the browser itself draws: points 20 ms apart. */
export const springEasing = `linear(${points().join(", ")})`;

function points(): string[] {
  const count = Math.round(springMilliseconds / 20);
  return Array.from({ length: count + 1 }, (_, index) => (index === count ? "1" : springAt((index / count) * springMilliseconds).toFixed(3)));
}

/** A dialog grows a little as it comes. Only its size moves, so it can be read and used at once, and stays whole without motion. */
const grow = keyframes`
  from { transform: scale(0.96); }
`;

/** A panel that slides down from the top bar. */
const slideDown = keyframes`
  from { transform: translateY(-16px); }
`;

export const dialogMotion = css`
  animation: ${grow} ${springMilliseconds}ms ${springEasing};
`;

export const panelMotion = css`
  animation: ${slideDown} ${springMilliseconds}ms ${springEasing};
`;

/** How long a change of layout keeps the frame from moving again, in milliseconds. */
export const layoutBlockMilliseconds = 250;
