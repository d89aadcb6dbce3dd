import { destinationPaths, type RemoteManifest } from "./manifest.ts";

/** Pictures that an entry of the navigation may have, by their names in Lucide (https://lucide.dev). */
export const navigationIcons: readonly string[] = [
  "archive",
  "bell",
  "book-open",
  "briefcase",
  "calendar",
  "chart-column",
  "clipboard-list",
  "clock",
  "credit-card",
  "file-text",
  "folder",
  "gift",
  "globe",
  "heart",
  "image",
  "landmark",
  "leaf",
  "mail",
  "map",
  "package",
  "shield",
  "tag",
  "wallet",
  "wrench",
];

/** Ranges of the contract that include hosts which refuse a manifest with `navigation`. */
const beforeNavigation = /^\^3(\.0(\.[0-9]+)?)?$/;

/**
 * Rules for entries of the navigation, besides those of the manifest's schema. The tools refuse a
 * release that breaks one. Pages do not load these rules: they show no entry for a route that is
 * not the remote's own, and none for an address with a parameter.
 *
 * @returns a sentence for each problem
 */
export function findNavigationProblems({
  contract,
  routes,
  navigation = [],
}: Pick<RemoteManifest, "contract" | "routes" | "navigation">): readonly string[] {
  const problems = navigation.flatMap(({ route, icon }, index) => {
    const isOwn = routes.some(({ path }) => path === route);
    return [
      ...(isOwn ? [] : ["is not a route of this manifest"]),
      ...(Object.values<string>(destinationPaths).includes(route)
        ? ["is reserved for a destination of the portal"]
        : []),
      ...(navigation.slice(0, index).some((earlier) => earlier.route === route) ? ["has an entry already"] : []),
      ...(navigationIcons.includes(icon) ? [] : [`has an icon that the portal does not draw: ${icon}`]),
    ].map((problem) => `the navigation entry ${route} ${problem}`);
  });
  return navigation.length > 0 && beforeNavigation.test(contract)
    ? ['"contract" must be "^3.1" or later for a navigation', ...problems]
    : problems;
}
