import type { Tour } from "./tour-state.ts";

/** Steps name their targets by `data-tour`. */
export function buildTargetSelector(target: string): string {
  return `[data-tour="${CSS.escape(target)}"]`;
}

export function findTarget(root: ParentNode, target: string): HTMLElement | null {
  return root.querySelector<HTMLElement>(buildTargetSelector(target));
}

/** The steps whose targets are drawn now: an empty list has no filter, for example. */
export function findPresentSteps(root: ParentNode, tour: Tour): Tour["steps"] {
  return tour.steps.filter(({ target }) => findTarget(root, target) !== null);
}
