import type { Tour } from "./machine.ts";

/** Steps of the host's own tours: the target, and the place of their texts in the namespace `joyride`. */
function steps(group: string, targets: readonly string[]): Tour["steps"] {
  return targets.map((target) => ({ target, titleKey: `joyride:${group}.${target.slice(target.indexOf("-") + 1)}_title`, bodyKey: `joyride:${group}.${target.slice(target.indexOf("-") + 1)}_body` }));
}

/** What is around every screen, on a wide screen (specification, section 2). */
export const layoutTour: Tour = {
  name: "layout",
  path: "/home",
  titleKey: "joyride:layout.title",
  steps: steps(
    "layout",
    ["home", "secrets", "received", "add", "language", "theme", "logout", "main", "help"].map((name) => `layout-${name}`),
  ),
};

/** The same on a small one: the bottom bar, and the menu with everything else. */
export const mobileTour: Tour = {
  name: "mobile",
  path: "/home",
  titleKey: "joyride:mobile.title",
  steps: steps(
    "mobile",
    ["home", "secrets", "add", "received", "logout", "menu"].map((name) => `mobile-${name}`),
  ),
};

/** Home; the second step only where the vendor has something to say. */
export const homeTour: Tour = {
  name: "home",
  path: "/home",
  titleKey: "joyride:home.title",
  steps: steps("home", ["home-create", "home-messages"]),
};

/** Whether a target is a part of the frame, which stays in sight while the page scrolls. */
export function isInFrame(target: string): boolean {
  return /^(layout|mobile)-/.test(target) && target !== "layout-main";
}

/** The tour of the frame that fits the screen. */
export function frameTour(mobile: boolean): Tour {
  return mobile ? mobileTour : layoutTour;
}
