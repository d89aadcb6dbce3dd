import type { Transition, Variants } from "framer-motion";

/**
 * Spring of modals (specification, section 9), with mass 1. It overshoots by a fifth of the
 * distance, so the distances are short.
 */
export const spring = { type: "spring", stiffness: 400, damping: 17 } as const satisfies Transition;

/** Duration of exit animations, which do not overshoot. */
export const exitMilliseconds = 140;
const exitTransition = {
  type: "tween",
  duration: exitMilliseconds / 1000,
  ease: "easeOut",
} as const satisfies Transition;

/** Duration of a layout change, in milliseconds. Further changes wait until it ends. */
export const layoutBlockMilliseconds = 250;

/** Spring without overshoot for layout changes. */
export const layoutMotion = {
  type: "spring",
  visualDuration: layoutBlockMilliseconds / 1000,
  bounce: 0,
} as const satisfies Transition;

// Props of `m` elements, as in `<m.div {...dialogMotion}>`. Elements that people read or use are
// visible from the first frame: they animate only size or position on entering. Exit animations
// need `AnimatePresence`; only elements that are no longer in use have one.
const enterProps = { initial: "hidden", animate: "visible" } as const;
const enterExitProps = { ...enterProps, exit: "exit" } as const;

export const dialogMotion = {
  ...enterProps,
  variants: { hidden: { scale: 0.94 }, visible: { scale: 1, transition: spring } } satisfies Variants,
} as const;

export const backdropMotion = {
  ...enterExitProps,
  variants: {
    hidden: { opacity: 0 },
    visible: { opacity: 1, transition: exitTransition },
    exit: { opacity: 0, transition: exitTransition },
  } satisfies Variants,
} as const;

/** A full-screen panel slides down from the top, and back up. */
export const panelMotion = {
  ...enterExitProps,
  variants: {
    hidden: { y: "-12%" },
    visible: { y: "0%", transition: spring },
    exit: { y: "-100%", transition: exitTransition },
  } satisfies Variants,
} as const;

/** A toast enters from the edge of the window. When it exits, the toasts below it move up. */
export const toastMotion = {
  ...enterExitProps,
  variants: {
    hidden: { x: 48 },
    visible: { x: 0, transition: spring },
    exit: { x: 48, height: 0, opacity: 0, transition: exitTransition },
  } satisfies Variants,
} as const;

/**
 * A slide enters from one side and exits to the other. `custom` is 1 for forward and -1 for back.
 */
export const slideMotion = {
  ...enterExitProps,
  variants: {
    hidden: (direction: number) => ({ x: direction * slidePixels }),
    visible: { x: 0, transition: spring },
    exit: (direction: number) => ({ x: -direction * slidePixels, opacity: 0, transition: exitTransition }),
  } satisfies Variants,
} as const;
const slidePixels = 64;
