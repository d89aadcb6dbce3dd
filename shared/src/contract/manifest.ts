import { z } from "zod";

import { capabilities } from "./remote.ts";

/** Reserved: builds, processes or addresses behind the gateway have these names. */
const reservedNames = ["host", "api", "identity", "service", "gateway"];

/**
 * Name of a remote: of its folder `remote-<name>`, of its releases, and of its part of the address,
 * `/r/<name>/`.
 */
export const RemoteName = z
  .string()
  .regex(/^[a-z][a-z0-9]{0,31}$/)
  .refine((name) => !reservedNames.includes(name), "is the name of something else");
export type RemoteName = z.infer<typeof RemoteName>;

/** Namespaces of the host's own texts. */
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

/** Name of a namespace of texts, which is not one of the host's. */
const Namespace = z
  .string()
  .regex(/^[a-z][a-z-]*$/)
  .refine((name) => !hostNamespaces.includes(name), "belongs to the host");

/** Below these the portal's address leads to files and to the service, never to a screen. */
const reservedSegments = ["api", "r", "deployments", "locales", "static", "healthz"];

/**
 * Path pattern in the notation of react-router: words, `:parameters`, and `*` at the end only. It
 * begins with a word, so that no remote can claim every address.
 */
const RoutePath = z
  .string()
  .regex(/^\/[a-z0-9_-]+(\/(:[a-zA-Z]+|[a-z0-9_-]+))*(\/\*)?$/)
  .refine((path) => !reservedSegments.includes(path.split("/")[1] ?? ""), "leads to files or to the service")
  // Specification, section 2: what is shared by a link is told by this word in its address.
  .refine(
    (path) =>
      !path
        .replace(/^\/(p-)?shared\//, "/")
        .toLowerCase()
        .includes("shared"),
    'contains "shared" otherwise than as shared/ or p-shared/',
  );

/** One screen of a remote; its code is what `remote.tsx` gives for the same path. */
const ManifestRoute = z.strictObject({
  path: RoutePath,
  /** What the screen is called, `<namespace>:<key>`, of a namespace of the same manifest. */
  titleKey: z.string().regex(/^[a-z][a-z-]*:[A-Za-z0-9_.]+$/),
  /**
   * Who may see it: whoever is signed in, everybody, or whoever is signed in or has seen the
   * landing page.
   */
  access: z.enum(["signed_in", "public", "guarded"]),
  /** With the portal's navigation around it. */
  shell: z.boolean(),
  /**
   * Name of the feature that it is part of: a deployment that sets this one to `false` has no such
   * address.
   */
  feature: z
    .string()
    .regex(/^[a-z][a-z_]*$/)
    .optional(),
});
export type ManifestRoute = z.infer<typeof ManifestRoute>;

/**
 * What a remote says of itself before its code runs: `manifest.json` of its package, signed as part
 * of each release. The host has it before it draws anything, so that a release brings its own
 * pages.
 */
export const RemoteManifest = z
  .strictObject({
    name: RemoteName,
    /** Range of contract versions that it was built for, such as `^3` or `^3.1`. */
    contract: z.string().regex(/^\^[1-9][0-9]*(\.[0-9]+){0,2}$/),
    /** Title of the area when its own texts are not loaded. */
    title: z.strictObject({ en: z.string().min(1), es: z.string().min(1) }),
    routes: z.array(ManifestRoute),
    /** Namespaces of texts that it owns: its release carries each as `locales/{lng}/{ns}.json`. */
    namespaces: z.array(Namespace),
    capabilities: z.array(z.enum(capabilities)),
    /** Paths of the service that it may call, by whole segments. */
    api_paths: z.array(z.string().startsWith("/")),
  })
  .superRefine(({ routes, namespaces }, context) => {
    for (const [index, { path, titleKey }] of routes.entries()) {
      if (!namespaces.some((namespace) => titleKey.startsWith(`${namespace}:`)))
        context.addIssue({
          code: "custom",
          path: ["routes", index, "titleKey"],
          message: "is of a namespace that the manifest does not name",
        });
      if (routes.slice(0, index).some((earlier) => normalisePattern(earlier.path) === normalisePattern(path)))
        context.addIssue({ code: "custom", path: ["routes", index, "path"], message: "stands twice" });
    }
  });
export type RemoteManifest = z.infer<typeof RemoteManifest>;

/** Whether there is an address that fits both patterns. */
export function pathsOverlap(first: string, second: string): boolean {
  const [firstSegments, secondSegments] = [splitPattern(first), splitPattern(second)];
  for (let index = 0; ; index++) {
    const [left, right] = [firstSegments[index], secondSegments[index]];
    if (left === "*" || right === "*") return true; // `*` also matches nothing at all
    if (left === undefined || right === undefined) return left === right;
    if (left !== right && left !== ":" && right !== ":") return false;
  }
}

function splitPattern(pattern: string): readonly string[] {
  return normalisePattern(pattern).split("/").slice(1);
}

/** A pattern without what the router ignores: names of parameters, and case. */
function normalisePattern(pattern: string): string {
  return pattern.replace(/:[a-zA-Z]+/g, ":").toLowerCase();
}
