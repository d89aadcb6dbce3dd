import type { Transition, Variants } from "framer-motion";

/** The spring of modals (specification, section 9), of mass 1. It swings over by a fifth of its way, so ways are short. */
export const spring = { type: "spring", stiffness: 400, damping: 17 } as const satisfies Transition;

/** What goes takes so long, in milliseconds, and does not swing. */
export const leaveMilliseconds = 140;
const leaving = { type: "tween", duration: leaveMilliseconds / 1000, ease: "easeOut" } as const satisfies Transition;

/** How long a change of layout takes, and keeps the frame from moving again, in milliseconds. */
export const layoutBlockMilliseconds = 250;

/** Of what moves everything beside it: a spring that does not swing over, in the time of a change of layout. */
export const layoutMotion = { type: "spring", visualDuration: layoutBlockMilliseconds / 1000, bounce: 0 } as const satisfies Transition;

// Props of `m` elements, `<m.div {...dialogMotion}>`. What is to be read or used only changes its size or place as it comes:
// it is whole from its first moment on. What goes needs `AnimatePresence`, and must be of no use any more.
const comes = { initial: "away", animate: "here" } as const;
const comesAndGoes = { ...comes, exit: "gone" } as const;

/** A dialog or a menu grows a little as it comes. */
export const dialogMotion = {
  ...comes,
  variants: { away: { scale: 0.94 }, here: { scale: 1, transition: spring } } satisfies Variants,
} as const;

/** What darkens the page behind a dialog. */
export const shadeMotion = {
  ...comesAndGoes,
  variants: { away: { opacity: 0 }, here: { opacity: 1, transition: leaving }, gone: { opacity: 0, transition: leaving } } satisfies Variants,
} as const;

/** A panel of the whole screen slides down from above, and up again. */
export const panelMotion = {
  ...comesAndGoes,
  variants: { away: { y: "-12%" }, here: { y: "0%", transition: spring }, gone: { y: "-100%", transition: leaving } } satisfies Variants,
} as const;

/** A toast comes from the edge of the window; when it goes, those below it move up. */
export const toastMotion = {
  ...comesAndGoes,
  variants: { away: { x: 48 }, here: { x: 0, transition: spring }, gone: { x: 48, height: 0, opacity: 0, transition: leaving } } satisfies Variants,
} as const;

/** A slide comes from where it lies and goes to the other side: `custom` is 1 on the way forward and -1 on the way back. */
export const slideMotion = {
  ...comesAndGoes,
  variants: {
    away: (direction: number) => ({ x: direction * slidePixels }),
    here: { x: 0, transition: spring },
    gone: (direction: number) => ({ x: -direction * slidePixels, opacity: 0, transition: leaving }),
  } satisfies Variants,
} as const;
const slidePixels = 64;
