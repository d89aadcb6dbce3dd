import { describeNode, type ResourceTracker } from "./resource-tracker.ts";

/**
 * All elements of the page: of dialogs, menus and messages that stay when their screen has gone.
 */
export function watchElements(): ResourceTracker {
  return {
    listHeld: () =>
      [...document.querySelectorAll("*")].map((element) => ({
        resourceKind: `${describeNode(element)} in ${element.parentElement === null ? "the document" : describeNode(element.parentElement)}`,
        locate: () => element.outerHTML.slice(0, 200),
      })),
    stop: () => undefined,
  };
}
