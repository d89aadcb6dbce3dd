import type { RemoteTour } from "../contract/index.ts";

/**
 * Targets of a tour that nothing in the page has: none may be missing where its screen is drawn.
 * Steps say where by `data-tour` names.
 */
export function findMissingTourTargets(tour: RemoteTour, root: ParentNode = document): string[] {
  return tour.steps
    .map(({ target }) => target)
    .filter((target) => root.querySelector(`[data-tour="${target}"]`) === null);
}
