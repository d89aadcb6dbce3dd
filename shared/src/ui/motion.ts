import type { Transition, Variants } from "framer-motion";

/**
 * The spring of modals (specification, section 9), of mass 1. It overshoots by a fifth of the
 * distance, so distances are short.
 */
export const spring = { type: "spring", stiffness: 400, damping: 17 } as const satisfies Transition;

/** Duration of exit animations in milliseconds; they do not overshoot. */
export const exitMilliseconds = 140;
const exitTransition = {
  type: "tween",
  duration: exitMilliseconds / 1000,
  ease: "easeOut",
} as const satisfies Transition;

/** Duration of a change of layout, during which no other one begins, in milliseconds. */
export const layoutBlockMilliseconds = 250;

/**
 * For changes that move their surroundings: a spring without overshoot, as long as a change of
 * layout.
 */
export const layoutMotion = {
  type: "spring",
  visualDuration: layoutBlockMilliseconds / 1000,
  bounce: 0,
} as const satisfies Transition;

// Props of `m` elements, `<m.div {...dialogMotion}>`. Elements that people read or use enter by a
// change of size or position
// alone, so that they are visible from the first frame. Exit animations need `AnimatePresence`; use
// them only for elements
// that are not used any more.
const enterProps = { initial: "hidden", animate: "visible" } as const;
const enterExitProps = { ...enterProps, exit: "exit" } as const;

/** A dialog or a menu grows a little when it opens. */
export const dialogMotion = {
  ...enterProps,
  variants: { hidden: { scale: 0.94 }, visible: { scale: 1, transition: spring } } satisfies Variants,
} as const;

/** The overlay behind a dialog. */
export const backdropMotion = {
  ...enterExitProps,
  variants: {
    hidden: { opacity: 0 },
    visible: { opacity: 1, transition: exitTransition },
    exit: { opacity: 0, transition: exitTransition },
  } satisfies Variants,
} as const;

/** A panel of the whole screen slides down from above, and up again. */
export const panelMotion = {
  ...enterExitProps,
  variants: {
    hidden: { y: "-12%" },
    visible: { y: "0%", transition: spring },
    exit: { y: "-100%", transition: exitTransition },
  } satisfies Variants,
} as const;

/** A toast enters from the edge of the window; when it leaves, those below it move up. */
export const toastMotion = {
  ...enterExitProps,
  variants: {
    hidden: { x: 48 },
    visible: { x: 0, transition: spring },
    exit: { x: 48, height: 0, opacity: 0, transition: exitTransition },
  } satisfies Variants,
} as const;

/**
 * A slide enters from one side and leaves to the other: `custom` is 1 for forward and -1 for back.
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
