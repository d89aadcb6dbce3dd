import type { Transition, Variants } from "framer-motion";

/** The spring of modals (specification, section 9). */
export const spring: Transition = { type: "spring", stiffness: 400, damping: 17 };

/** A dialog grows a little as it comes. Only its size moves, so it can be read and used at once, and stays whole without motion. */
export const dialogMotion: Variants = {
  closed: { scale: 0.96 },
  open: { scale: 1, transition: spring },
};

/** A panel that slides down from the top bar. */
export const panelMotion: Variants = {
  closed: { y: -16 },
  open: { y: 0, transition: spring },
};

/** How long a change of layout keeps the frame from moving again, in milliseconds. */
export const layoutBlockMilliseconds = 250;
