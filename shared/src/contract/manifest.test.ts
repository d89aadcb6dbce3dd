import { pathsOverlap, RemoteManifest } from "./manifest.ts";

const route = { path: "/notes", titleKey: "notes:list.title", access: "signed_in", shell: true };
const manifest = {
  name: "notes",
  contract: "^3",
  title: { en: "Notes", es: "Notas" },
  routes: [route],
  namespaces: ["notes"],
  capabilities: ["navigate"],
  api_paths: [],
};
const isValid = (changes: object) => RemoteManifest.safeParse({ ...manifest, ...changes }).success;
const isValidRoute = (changes: object) => isValid({ routes: [{ ...route, ...changes }] });

describe("RemoteManifest", () => {
  it.each([
    "/notes",
    "/edit-note/:noteId",
    "/settings/*",
    "/notes/:noteId/pages/:page",
    "/shared/:shareId",
    "/p-shared/:shareId",
    "/_debug_",
  ])("accepts the path %s", (path) => {
    expect(isValidRoute({ path })).toBe(true);
  });

  it("accepts a route with a feature", () => {
    expect(isValidRoute({ feature: "own_notes" })).toBe(true);
  });

  it.each([
    ["is relative", "notes"],
    ["is the index", "/"],
    ["claims every address", "/*"],
    ["begins with a parameter", "/:anything"],
    ["has a star in the middle", "/notes/*/pages"],
    ["ends with a slash", "/notes/"],
    ["has capitals", "/Notes"],
    ["has dot segments", "/notes/../home"],
    ["has a query", "/notes?all"],
    ["leads to the service", "/api/notes"],
    ["leads to files of a release", "/r/notes"],
    ['contains "shared"', "/shared-notes"],
    ['is only "shared"', "/shared"],
    ['contains "shared" twice', "/shared/shared-notes"],
    ['contains "shared" in the name of a parameter', "/notes/:sharedId"],
    ['contains "p-shared" after its first word', "/notes/p-shared/x"],
  ])("refuses a path that %s", (_, path) => {
    expect(isValidRoute({ path })).toBe(false);
  });

  const entry = { route: "/notes", titleKey: "notes:list.title", icon: "folder", order: 10 };
  const isValidNavigation = (...navigation: object[]) => isValid({ contract: "^3.1", navigation });

  it("accepts an entry of the navigation for one of its routes", () => {
    expect(isValidNavigation(entry)).toBe(true);
    expect(isValidNavigation({ ...entry, feature: "own_notes" })).toBe(true);
  });

  it.each<[string, object]>([
    ["leads to a route with a parameter", { route: "/notes/:noteId" }],
    ["leads to all routes below another", { route: "/notes/*" }],
    ["has a title of the host", { titleKey: "beta-sidebar:destination.home" }],
    ["has no title", { titleKey: undefined }],
    ["has an icon from another file", { icon: "x.svg#folder" }],
    ["has no order", { order: undefined }],
  ])("refuses an entry of the navigation that %s", (_, changes) => {
    const routes = ["/notes", "/notes/:noteId", "/notes/*"].map((path) => ({ ...route, path }));
    const validity = (navigation: object[]) => isValid({ contract: "^3.1", routes, navigation });
    expect(validity([entry])).toBe(true);
    expect(validity([{ ...entry, ...changes }])).toBe(false);
  });

  it.each<[string, object]>([
    ["a title from a namespace that the remote does not own", { routes: [{ ...route, titleKey: "errors:unknown" }] }],
    ["a namespace of the host", { namespaces: ["notes", "errors"] }],
    ["a title key without a namespace", { routes: [{ ...route, titleKey: "Notes" }] }],
    ["a duplicate path", { routes: [route, route] }],
    [
      "paths that differ only in parameter names",
      {
        routes: [
          { ...route, path: "/notes/:one" },
          { ...route, path: "/notes/:other" },
        ],
      },
    ],
    ["a name with a dash", { name: "my-notes" }],
    ["a version in place of a range", { contract: "2.0.0" }],
    ["a missing Spanish title", { title: { en: "Notes" } }],
    ["an unknown capability", { capabilities: ["token"] }],
    ["a feature name with spaces", { routes: [{ ...route, feature: "My notes" }] }],
    ["an unknown member", { menu: [] }],
    ["paths of the service without the capability http", { api_paths: ["/user"] }],
    ["the capability http without a path", { capabilities: ["http"] }],
    ...["/", "/user/", "/users/:id", "/user?x", "//user", "/user/../secrets", "user"].map((path): [string, object] => [
      `the path ${path} of the service`,
      { capabilities: ["http"], api_paths: [path] },
    ]),
  ])("refuses %s", (_, changes) => {
    expect(isValid(changes)).toBe(false);
  });
});

describe("pathsOverlap", () => {
  it.each([
    ["/notes", "/notes"],
    ["/notes", "/Notes"],
    ["/notes/:id", "/notes/:other"],
    ["/notes/:id", "/notes/new"],
    ["/settings/*", "/settings/profile"],
    ["/settings/*", "/settings"],
    ["/settings/*", "/settings/a/b"],
    ["/:any/profile", "/settings/:page"],
  ])("finds that %s and %s overlap", (first, second) => {
    expect([pathsOverlap(first, second), pathsOverlap(second, first)]).toEqual([true, true]);
  });

  it.each([
    ["/notes", "/note"],
    ["/notes", "/notes/:id"],
    ["/notes/:id", "/notes/:id/pages"],
    ["/settings/*", "/setting"],
    ["/notes/:id/pages", "/notes/:id/words"],
  ])("finds that %s and %s do not overlap", (first, second) => {
    expect([pathsOverlap(first, second), pathsOverlap(second, first)]).toEqual([false, false]);
  });
});
