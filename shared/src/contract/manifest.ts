import { z } from "zod";

import { capabilities as allCapabilities } from "./remote.ts";

/**
 * Names that no remote may have, because builds, processes and paths behind the gateway use them.
 */
const reservedNames = ["host", "api", "identity", "service", "gateway"];

/**
 * Name of a remote, also used for its folder `remote-<name>`, its releases and its path
 * `/r/<name>/`.
 */
export const RemoteName = z
  .string()
  .regex(/^[a-z][a-z0-9]{0,31}$/)
  .refine((name) => !reservedNames.includes(name), "is reserved");
export type RemoteName = z.infer<typeof RemoteName>;

/** Namespaces of the host's own texts. No remote may have one of these. */
export const hostNamespaces: readonly string[] = [
  "beta-sidebar",
  "common",
  "errors",
  "header",
  "help",
  "joyride",
  "language",
  "modals",
];

/** Paths of the host's own screens. No remote may have one of these. */
export const hostPaths = ["/help", "/status", "/validate-email", "/_debug_flags_"] as const;

/** Paths of the destinations that every navigation begins with. Entries of remotes follow them. */
export const destinationPaths = {
  home: "/home",
  secrets: "/secrets",
  received: "/recived",
  add: "/add-secret",
  settings: "/settings/profile",
} as const;

/**
 * Paths with only letters, digits, `.`, `_`, `~` and `-`. Any other character could make a call
 * resolve to another path than the checked one.
 */
export const plainPath = /^(\/(?!\.{1,2}(\/|$))[\w.~-]+)+$/;

/** Name of a namespace of texts that is not one of the host's. */
const Namespace = z
  .string()
  .regex(/^[a-z][a-z-]*$/)
  .refine((name) => !hostNamespaces.includes(name), "belongs to the host");

/** First segments of paths that lead to files or to the service, never to a screen. */
const reservedSegments = ["api", "r", "deployments", "locales", "static", "healthz"];

/**
 * Path pattern of react-router: words, `:parameters`, and `*` only at the end. It begins with a
 * word, so that no remote can claim every path.
 */
const RoutePath = z
  .string()
  .regex(/^\/[a-z0-9_-]+(\/(:[a-zA-Z]+|[a-z0-9_-]+))*(\/\*)?$/)
  .refine((path) => !reservedSegments.includes(path.split("/")[1] ?? ""), "leads to files or to the service")
  // Specification, section 2: this word in an address identifies a share.
  .refine(
    (path) =>
      !path
        .replace(/^\/(p-)?shared\//, "/")
        .toLowerCase()
        .includes("shared"),
    'contains "shared" outside a leading shared/ or p-shared/',
  );

/** Key of a text, `<namespace>:<key>`, in a namespace of the same manifest. */
const TitleKey = z.string().regex(/^[a-z][a-z-]*:[A-Za-z0-9_.]+$/);

const FeatureName = z.string().regex(/^[a-z][a-z_]*$/);

/** A screen of a remote. `remote.tsx` provides its code under the same path. */
const ManifestRoute = z.strictObject({
  path: RoutePath,
  titleKey: TitleKey,
  /**
   * Who may see the screen. `signed_in`: signed-in people. `public`: everyone. `guarded`: people
   * who are signed in or have visited the landing page.
   */
  access: z.enum(["signed_in", "public", "guarded"]),
  /** Whether the portal's navigation surrounds the screen. */
  shell: z.boolean(),
  /**
   * Feature to which the screen belongs. The path does not exist in a deployment that sets the
   * feature to `false`.
   */
  feature: FeatureName.optional(),
});
export type ManifestRoute = z.infer<typeof ManifestRoute>;

/** An entry of the portal's navigation, after the destinations. */
const NavigationEntry = z.strictObject({
  /** Path of one of the manifest's routes, without parameters. */
  route: z.string().regex(/^(\/[a-z0-9_-]+)+$/),
  titleKey: TitleKey,
  /** One of `navigationIcons` (manifest-navigation.ts, which has further rules). */
  icon: z.string().regex(/^[a-z-]+$/),
  /** Lower numbers first; with the same number, in the deployment document's order of remotes. */
  order: z.int().min(0).max(999),
  /** It does not exist in a deployment that sets this feature, or its route's, to `false`. */
  feature: FeatureName.optional(),
});
export type NavigationEntry = z.infer<typeof NavigationEntry>;

/** Most entries that one remote may add to the navigation. */
const maxNavigationEntries = 5;

/**
 * Describes a remote without running its code. It is `manifest.json` of the remote's package, and
 * is signed as part of each release. The host knows all routes before it loads any remote.
 */
export const RemoteManifest = z
  .strictObject({
    name: RemoteName,
    /** Range of contract versions that the remote supports, such as `^3` or `^3.1`. */
    contract: z.string().regex(/^\^[1-9][0-9]*(\.[0-9]+){0,2}$/),
    /** Title of the area while the remote's texts are not loaded. */
    title: z.strictObject({ en: z.string().min(1), es: z.string().min(1) }),
    routes: z.array(ManifestRoute),
    navigation: z.array(NavigationEntry).max(maxNavigationEntries).optional(),
    /** Namespaces of the remote's texts. Its release contains each as `locales/{lng}/{ns}.json`. */
    namespaces: z.array(Namespace),
    capabilities: z.array(z.enum(allCapabilities)),
    /**
     * Paths of the service that the remote may call, with the capability `http`. Each path includes
     * the paths below it.
     */
    api_paths: z.array(z.string().regex(plainPath, "permits nothing: write words, as in /user/me")),
  })
  .superRefine(({ routes, navigation = [], namespaces, capabilities, api_paths }, context) => {
    if (capabilities.includes("http") !== api_paths.length > 0)
      context.addIssue({
        code: "custom",
        path: ["api_paths"],
        message: 'need the capability "http", which needs at least one of them',
      });
    const requireOwnText = (titleKey: string, part: string, index: number) => {
      if (!namespaces.some((namespace) => titleKey.startsWith(`${namespace}:`)))
        context.addIssue({
          code: "custom",
          path: [part, index, "titleKey"],
          message: "uses a namespace that the manifest does not list",
        });
    };
    for (const [index, { path, titleKey }] of routes.entries()) {
      requireOwnText(titleKey, "routes", index);
      if (routes.slice(0, index).some((earlier) => normalisePattern(earlier.path) === normalisePattern(path)))
        context.addIssue({ code: "custom", path: ["routes", index, "path"], message: "is declared twice" });
    }
    for (const [index, { titleKey }] of navigation.entries()) requireOwnText(titleKey, "navigation", index);
  });
export type RemoteManifest = z.infer<typeof RemoteManifest>;

/** Whether a path exists that matches both patterns. */
export function pathsOverlap(first: string, second: string): boolean {
  const [firstSegments, secondSegments] = [splitPattern(first), splitPattern(second)];
  for (let index = 0; ; index++) {
    const [left, right] = [firstSegments[index], secondSegments[index]];
    if (left === "*" || right === "*") return true; // `*` also matches zero segments
    if (left === undefined || right === undefined) return left === right;
    if (left !== right && left !== ":" && right !== ":") return false;
  }
}

function splitPattern(pattern: string): readonly string[] {
  return normalisePattern(pattern).split("/").slice(1);
}

/**
 * Replaces the parts of a pattern that the router ignores: names of parameters, and letter case.
 */
function normalisePattern(pattern: string): string {
  return pattern.replace(/:[a-zA-Z]+/g, ":").toLowerCase();
}
