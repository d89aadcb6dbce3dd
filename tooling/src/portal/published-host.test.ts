import { createHash } from "node:crypto";

import { findHostProblems, findVaultProblems, fetchServedHost } from "./published-host.ts";

const origin = "https://portal.example";
const hashOf = (text: string): string => `sha384-${createHash("sha384").update(text).digest("base64")}`;
const sources = { "static/main.js": "main", "static/more.js": "more", "static/main.css": "css" };
const builtHashes = Object.fromEntries(Object.entries(sources).map(([path, text]) => [path, hashOf(text)]));
const buildList = (files: Readonly<Record<string, string>>): string =>
  JSON.stringify(Object.fromEntries(Object.entries(files).map(([path, integrity]) => [`/${path}`, integrity])));
const buildPage = (extraMarkup = "", list = buildList(builtHashes)): string =>
  `<!doctype html><link rel=icon href=/icon.svg><script type=application/json id=portal-page>{}</script><script type=application/json id=host-files>${list}</script>` +
  `<script integrity="${hashOf("main")}" defer src=/static/main.js></script><link integrity="${hashOf("css")}" href=/static/main.css rel=stylesheet>` +
  `<link integrity="${hashOf("more")}" rel=preload as=script href=/static/more.js>${extraMarkup}`;

async function checkPortal({
  page = buildPage(),
  list = buildList(builtHashes),
  files = sources,
}: { page?: string; list?: string; files?: Readonly<Record<string, string>> } = {}): Promise<string[]> {
  const responses: Readonly<Record<string, string>> = { "": page, "host-files.json": list, ...files };
  const fetch = (address: URL): Promise<Response> => {
    const body = responses[address.pathname.slice(1)];
    return Promise.resolve(body === undefined ? new Response("", { status: 404 }) : new Response(body));
  };
  return findHostProblems(
    builtHashes,
    await fetchServedHost(origin, Object.keys(builtHashes), fetch as typeof globalThis.fetch),
  );
}

describe("findHostProblems", () => {
  it("accepts a host that is built from the sources", async () => {
    expect(await checkPortal()).toEqual([]);
  });

  it.each<[string, Parameters<typeof checkPortal>[0], string]>([
    ["publishes an empty list", { list: "{}" }, "static/main.js is missing in its list"],
    [
      "publishes another hash",
      { list: buildList({ ...builtHashes, "static/more.js": hashOf("other") }) },
      "static/more.js in its list differs",
    ],
    [
      "publishes a further file",
      { list: buildList({ ...builtHashes, "static/evil.js": hashOf("evil") }) },
      "static/evil.js in its list is not built from these sources",
    ],
    [
      "serves other bytes than it publishes",
      { files: { ...sources, "static/more.js": "other" } },
      "static/more.js as it is served differs",
    ],
    [
      "does not serve a file",
      { files: { "static/main.js": "main", "static/main.css": "css" } },
      "static/more.js as it is served is missing",
    ],
    [
      "has another list in its page",
      { page: buildPage("", buildList({ ...builtHashes, "static/main.js": hashOf("evil") })) },
      "static/main.js in its page's list differs",
    ],
    ["has no list in its page", { page: buildPage("", "") }, "static/main.js is missing in its page's list"],
    [
      "starts a further script",
      { page: buildPage('<script src="/r/evil.js"></script>') },
      "its page starts /r/evil.js, which is not built from these sources",
    ],
    [
      "starts a script under another hash",
      { page: buildPage(`<SCRIPT src=/static/main.js integrity=${hashOf("evil")}></SCRIPT>`) },
      "its page starts /static/main.js, which is not built from these sources",
    ],
    ["has an inline script", { page: buildPage("<script>evil()</script>") }, "its page has an inline script"],
    [
      "has another stylesheet",
      { page: buildPage("<link rel=stylesheet href=/static/evil.css>") },
      "its page starts /static/evil.css, which is not built from these sources",
    ],
  ])("reports a portal that %s", async (_case, portal, problem) => {
    expect(await checkPortal(portal)).toContain(problem);
  });

  it.each([
    ["publishes no list", { list: "<!doctype html>" }, "publishes no list"],
    ["publishes something else", { list: "[1]" }, "publishes no list"],
  ])("throws for a portal that %s", async (_case, portal, message) => {
    await expect(checkPortal(portal)).rejects.toThrow(message);
  });
});

describe("findVaultProblems", () => {
  const file = "static/controller.0123abcd.js";
  const script = (text: string): string => `<script integrity="${hashOf(text)}" src="/${file}" defer></script>`;
  const check = ({ page = script("verify"), served = "verify" }: { page?: string; served?: string } = {}) =>
    findVaultProblems({ [file]: hashOf("verify") }, "https://vault.example", ((address: URL) =>
      Promise.resolve(
        address.pathname === "/controller"
          ? new Response(`<script type="application/json" id="portal-page">{}</script>${page}`)
          : new Response(served),
      )) as typeof globalThis.fetch);

  it("accepts a page whose script is built from the sources", async () => {
    expect(await check()).toEqual([]);
  });

  it.each<[string, Parameters<typeof check>[0], string]>([
    ["other bytes", { served: "evil" }, `${file} as it is served differs`],
    [
      "a page that starts something else",
      { page: script("evil") },
      `its page starts /${file}, which is not built from these sources`,
    ],
    ["a page with an inline script", { page: "<script>evil()</script>" }, "its page has an inline script"],
  ])("reports %s", async (_case, changes, problem) => {
    expect(await check(changes)).toEqual([problem]);
  });

  it("needs a page", async () => {
    const fetch = (() => Promise.resolve(new Response("", { status: 404 }))) as typeof globalThis.fetch;
    await expect(findVaultProblems({}, "https://vault.example", fetch)).rejects.toThrow("no page of the vault");
  });
});
