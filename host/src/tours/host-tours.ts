import type { Tour } from "./tour-state.ts";

/**
 * Steps of the host's own tours: the target, and the keys of its texts in the namespace `joyride`.
 */
function createSteps(group: string, targets: readonly string[]): Tour["steps"] {
  return targets.map((target) => ({
    target,
    titleKey: `joyride:${group}.${target.slice(target.indexOf("-") + 1)}_title`,
    bodyKey: `joyride:${group}.${target.slice(target.indexOf("-") + 1)}_body`,
  }));
}

/** Tour of the frame on wide screens (specification, section 2). */
export const layoutTour: Tour = {
  name: "layout",
  path: "/home",
  titleKey: "joyride:layout.title",
  steps: createSteps(
    "layout",
    ["home", "secrets", "received", "add", "language", "theme", "logout", "main", "help"].map(
      (name) => `layout-${name}`,
    ),
  ),
};

/** Tour of the frame on small screens: the bottom bar and the menu. */
export const mobileTour: Tour = {
  name: "mobile",
  path: "/home",
  titleKey: "joyride:mobile.title",
  steps: createSteps(
    "mobile",
    ["home", "secrets", "add", "received", "logout", "menu"].map((name) => `mobile-${name}`),
  ),
};

/** Tour of Home. Its second step is shown only when the vendor has messages. */
export const homeTour: Tour = {
  name: "home",
  path: "/home",
  titleKey: "joyride:home.title",
  steps: createSteps("home", ["home-create", "home-messages"]),
};

/** Whether a target is part of the frame, which does not scroll. */
export function isInFrame(target: string): boolean {
  return /^(layout|mobile)-/.test(target) && target !== "layout-main";
}

export function getFrameTour(mobile: boolean): Tour {
  return mobile ? mobileTour : layoutTour;
}
