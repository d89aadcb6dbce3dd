import type { ManifestRoute, RemoteManifest } from "@relicario/shared/contract";

import { findRoute, guardRoute, isSharedLinkView, buildPortalRoutes, type PortalRoute } from "./routes.ts";
import type { VerifiedRemote } from "../deployment/verify.ts";
import { createFakeHost } from "../testing/fake-host.tsx";

const { routes } = createFakeHost().host;

describe("findRoute", () => {
  it.each([
    ["/home", "secrets"],
    ["/add-secret", "secrets"],
    ["/edit-secret", "secrets"],
    ["/edit-secret/01890a5d-ac96-7000-8000-000000000001", "secrets"],
    ["/secrets", "secrets"],
    ["/secrets/", "secrets"],
    ["/user-secrets", "secrets"],
    ["/provide-image", "recovery"],
    ["/upload-image", "recovery"],
    ["/provide-image-recovery", "recovery"],
    ["/processing-recovery", "recovery"],
    ["/congrats-recover", "recovery"],
    ["/welcome-recovery", "recovery"],
    ["/welcome", "recovery"],
    ["/welcome-backup", "recovery"],
    ["/provide-secret", "recovery"],
    ["/processing", "recovery"],
    ["/safeguard", "recovery"],
    ["/congrats", "recovery"],
    ["/recived", "sharing"],
    ["/shared/x", "sharing"],
    ["/p-shared/x", "sharing"],
    ["/secret-landing", "sharing"],
    ["/settings", "settings"],
    ["/settings/", "settings"],
    ["/settings/profile", "settings"],
    ["/settings/notifications", "settings"],
  ])("finds that %s belongs to %s", (path, remote) => {
    expect(findRoute(routes, path)).toMatchObject({ remote });
  });

  it.each([
    ["/", "/home"],
    ["/nothing/here", "/home"],
    ["/shared", "/home"],
  ])("redirects %s to %s", (path, redirect) => {
    expect(findRoute(routes, path)).toEqual({ redirect });
  });

  it.each(["/provide-image", "/provide-image-recovery", "/secret-landing"])("shows %s without navigation", (path) => {
    expect(findRoute(routes, path)).toMatchObject({ shell: false });
  });
});

describe("buildPortalRoutes", () => {
  const createManifest = (
    name: string,
    paths: readonly string[],
    changes: Partial<ManifestRoute> = {},
  ): RemoteManifest => ({
    ...{ name, contract: "^3", title: { en: name, es: name }, namespaces: [name], capabilities: [], api_paths: [] },
    routes: paths.map((path) => ({ path, titleKey: `${name}:title`, access: "signed_in", shell: true, ...changes })),
  });
  const createVerified = (...manifestParameters: Parameters<typeof createManifest>): VerifiedRemote => ({
    status: "verified",
    record: {
      v: 1,
      release: `${manifestParameters[0]}-1.0.0-0123456789ab`,
      version: "1.0.0",
      manifest: createManifest(...manifestParameters),
      files: {},
      federation: { id: "x", name: "x" },
    },
  });
  const createRefused = (...manifestParameters: Parameters<typeof createManifest>): VerifiedRemote => ({
    status: "refused",
    code: "remote_disabled",
    manifest: createManifest(...manifestParameters),
  });
  const findRoutes = (remotes: Readonly<Record<string, VerifiedRemote>>) => {
    const report = jest.fn();
    const builtRoutes = buildPortalRoutes(new Map(Object.entries(remotes)), report);
    return { findAt: (path: string) => findRoute(builtRoutes, path), report };
  };

  it("takes a screen's settings from its manifest", () => {
    const { findAt } = findRoutes({
      notes: createVerified("notes", ["/notes/:noteId"], { access: "public", shell: false }),
    });
    expect(findAt("/notes/7")).toEqual({
      path: "/notes/:noteId",
      remote: "notes",
      titleKey: "notes:title",
      access: "public",
      shell: false,
    });
    expect(findAt("/notes")).toEqual({ redirect: "/home" });
  });

  it("gives the most specific route of a path", () => {
    const { findAt } = findRoutes({ notes: createVerified("notes", ["/notes/*", "/notes/:noteId", "/notes/new"]) });
    expect(["/notes", "/notes/a/b", "/notes/7", "/notes/new"].map(findAt)).toMatchObject(
      ["/notes/*", "/notes/*", "/notes/:noteId", "/notes/new"].map((path) => ({ path })),
    );
  });

  it("keeps the host's paths, and reports a remote that claims one", () => {
    const { findAt, report } = findRoutes({ notes: createVerified("notes", ["/help", "/status/*", "/notes"]) });
    expect([findAt("/help"), findAt("/status")]).toMatchObject([{ screen: "help" }, { screen: "status" }]);
    expect(findAt("/status/more")).toEqual({ redirect: "/home" });
    expect(findAt("/notes")).toMatchObject({ remote: "notes" });
    expect(report.mock.calls).toEqual([
      ["remote notes", "/help belongs to the host"],
      ["remote notes", "/status/* belongs to the host"],
    ]);
  });

  it.each(["/secrets", "/secrets/*", "/edit-secret/new"])(
    "keeps %s for the remote that the document names first",
    (path) => {
      const { findAt, report } = findRoutes({
        secrets: createVerified("secrets", ["/secrets", "/edit-secret/:secretId"]),
        also: createVerified("also", [path]),
      });
      expect(findAt("/secrets")).toMatchObject({ remote: "secrets" });
      expect(findAt("/edit-secret/new")).toMatchObject({ remote: "secrets" });
      expect(findAt("/secrets/more")).toEqual({ redirect: "/home" });
      expect(report).toHaveBeenCalledWith("remote also", `${path} belongs to secrets`);
    },
  );

  it("includes the paths of a refused remote, unless a verified remote has them", () => {
    const { findAt } = findRoutes({
      old: createRefused("old", ["/notes", "/old"]),
      notes: createVerified("notes", ["/notes"]),
    });
    expect([findAt("/old"), findAt("/notes")]).toMatchObject([{ remote: "old" }, { remote: "notes" }]);
  });

  it("includes a screen for every destination when no manifest is known", () => {
    const { findAt } = findRoutes({ secrets: { status: "refused", code: "remote_refused", manifest: null } });
    for (const path of ["/home", "/secrets", "/recived", "/add-secret", "/settings/profile"])
      expect(findAt(path)).toMatchObject({ screen: "unavailable", access: "signed_in" });
    expect(findAt("/notes")).toEqual({ redirect: "/home" });
  });
});

describe("guardRoute", () => {
  const requireRoute = (path: string): PortalRoute => {
    const route = findRoute(routes, path);
    if ("redirect" in route) throw new Error(path);
    return route;
  };

  it.each([
    ["/secrets", false, false, "sign_in"],
    ["/secrets", true, false, "show"],
    ["/shared/x", false, false, "show"],
    ["/secret-landing", false, false, "show"],
    ["/p-shared/x", false, false, "landing"],
    ["/p-shared/x", false, true, "sign_in"],
    ["/p-shared/x", true, false, "show"],
  ] as const)("for %s, signed in: %s, landing visited: %s: returns %s", (path, signedIn, landingVisited, expected) => {
    expect(guardRoute(requireRoute(path), { signedIn, landingVisited })).toBe(expected);
  });

  it("shows a visitor who is not signed in only shared links, requests and the landing page", () => {
    const visible = routes.filter((route) => guardRoute(route, { signedIn: false, landingVisited: true }) === "show");
    expect(visible.map(({ path }) => path)).toEqual(["/secret-landing", "/request/:requestId", "/shared/:shareId"]);
  });

  it("shows everything to a signed-in person", () => {
    for (const route of routes) expect(guardRoute(route, { signedIn: true, landingVisited: false })).toBe("show");
  });
});

describe("isSharedLinkView", () => {
  it.each([
    ["/shared/x", true],
    ["/p-shared/x", false],
    ["/recived", false],
    ["/request/x", true],
  ])("%s: %s", (path, expected) => {
    expect(isSharedLinkView(path)).toBe(expected);
  });
});
