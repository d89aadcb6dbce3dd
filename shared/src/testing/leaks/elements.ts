import { describeNode, type ResourceTracker } from "./resource-tracker.ts";

/** Tracks all elements of the page. Finds dialogs, menus and messages that outlive their screen. */
export function watchElements(): ResourceTracker {
  return {
    listHeldResources: () =>
      [...document.querySelectorAll("*")].map((element) => ({
        resourceKind: `${describeNode(element)} in ${element.parentElement === null ? "the document" : describeNode(element.parentElement)}`,
        locate: () => element.outerHTML.slice(0, 200),
      })),
    stop: () => undefined,
  };
}
