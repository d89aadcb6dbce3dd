import { nameOfNode, type Account } from "./held.ts";

/**
 * All elements of the page: of dialogs, menus and messages that stay when their screen has gone.
 */
export function watchElements(): Account {
  return {
    held: () =>
      [...document.querySelectorAll("*")].map((element) => ({
        what: `${nameOfNode(element)} in ${element.parentElement === null ? "the document" : nameOfNode(element.parentElement)}`,
        which: () => element.outerHTML.slice(0, 200),
      })),
    stop: () => undefined,
  };
}
