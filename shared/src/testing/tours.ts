import type { RemoteTour } from "../contract/index.ts";

/** Returns the `data-tour` names of a tour's steps that no element of the page has. */
export function findMissingTourTargets(tour: RemoteTour, root: ParentNode = document): string[] {
  return tour.steps
    .map(({ target }) => target)
    .filter((target) => root.querySelector(`[data-tour="${target}"]`) === null);
}
