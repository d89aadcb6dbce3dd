import { describeNode } from "./resource-tracker.ts";

/**
 * Records attributes of `html` and `body`. Each exists once, however often a screen sets it, so it
 * cannot be found by a growing number.
 *
 * @returns a function that lists what has changed since, one line each
 */
export function watchPageAttributes(): () => string[] {
  const before = readAttributes();
  return () => {
    const now = readAttributes();
    return [...new Set([...before.keys(), ...now.keys()])]
      .filter((name) => before.get(name) !== now.get(name))
      .map((name) => `${name}: ${now.get(name) ?? "removed"}`);
  };
}

/** The portal and its dialogs set them. */
const ignoredAttributes: readonly string[] = ["lang", "data-theme", "data-scroll-locked"];

function readAttributes(): ReadonlyMap<string, string> {
  return new Map(
    [document.documentElement, document.body].flatMap((root) =>
      [...root.attributes]
        // A closed dialog leaves an empty style.
        .filter(({ name, value }) => !ignoredAttributes.includes(name) && (name !== "style" || value !== ""))
        .map(({ name, value }) => [`attribute ${name} of ${describeNode(root)}`, value]),
    ),
  );
}
