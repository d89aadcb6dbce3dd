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
  ])("takes the path %s", (path) => {
    expect(isValidRoute({ path })).toBe(true);
  });

  it("takes a route that is part of a feature", () => {
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
    ["leads out of itself", "/notes/../home"],
    ["asks something", "/notes?all"],
    ["leads to the service", "/api/notes"],
    ["leads to files of a release", "/r/notes"],
    ['contains "shared"', "/shared-notes"],
    ['contains "shared" without more', "/shared"],
    ['contains "shared" once more', "/shared/shared-notes"],
    ['contains "shared" in the name of a parameter', "/notes/:sharedId"],
    ['contains "shared" further on', "/notes/p-shared/x"],
  ])("refuses a path that %s", (_, path) => {
    expect(isValidRoute({ path })).toBe(false);
  });

  it.each<[string, object]>([
    ["a title of a namespace that it does not own", { routes: [{ ...route, titleKey: "errors:unknown" }] }],
    ["texts of the host", { namespaces: ["notes", "errors"] }],
    ["a title that is no key", { routes: [{ ...route, titleKey: "Notes" }] }],
    ["a path twice", { routes: [route, route] }],
    [
      "a path twice by other names of its parameters",
      {
        routes: [
          { ...route, path: "/notes/:one" },
          { ...route, path: "/notes/:other" },
        ],
      },
    ],
    ["a name with a dash", { name: "my-notes" }],
    ["a range that is none", { contract: "2.0.0" }],
    ["an area without a Spanish name", { title: { en: "Notes" } }],
    ["a capability that there is not", { capabilities: ["token"] }],
    ["a feature whose name is no word", { routes: [{ ...route, feature: "My notes" }] }],
    ["a fact that nobody reads", { navigation: [] }],
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
  ])("tells that %s and %s can be the same address", (first, second) => {
    expect([pathsOverlap(first, second), pathsOverlap(second, first)]).toEqual([true, true]);
  });

  it.each([
    ["/notes", "/note"],
    ["/notes", "/notes/:id"],
    ["/notes/:id", "/notes/:id/pages"],
    ["/settings/*", "/setting"],
    ["/notes/:id/pages", "/notes/:id/words"],
  ])("keeps %s and %s apart", (first, second) => {
    expect([pathsOverlap(first, second), pathsOverlap(second, first)]).toEqual([false, false]);
  });
});
