import type { Tour } from "./machine.ts";

/** Steps point at names, never at positions. */
export function targetSelector(target: string): string {
  return `[data-tour="${CSS.escape(target)}"]`;
}

/** The element that a step points at, when it is drawn. */
export function findTarget(root: ParentNode, target: string): HTMLElement | null {
  return root.querySelector<HTMLElement>(targetSelector(target));
}

/** The steps whose targets are drawn now: a list that is empty has no filter to show. */
export function presentSteps(root: ParentNode, tour: Tour): Tour["steps"] {
  return tour.steps.filter(({ target }) => findTarget(root, target) !== null);
}
