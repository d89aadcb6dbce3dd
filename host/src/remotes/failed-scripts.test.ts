import { trackFailedScripts } from "./failed-scripts.ts";

const base = "https://portal.example/r/settings/settings-1/";
const createResponse = (status = 200) =>
  ({ ok: status === 200, arrayBuffer: () => Promise.resolve(new ArrayBuffer(0)) }) as Response;

function setUp() {
  const page = document.createElement("main");
  const fetch = jest.fn((_address: string, _init?: RequestInit) => Promise.resolve(createResponse()));
  const scripts = trackFailedScripts({
    page,
    fetch: fetch as unknown as typeof globalThis.fetch,
    getIntegrity: (address) => `hash of ${address}`,
  });
  const failLoading = (address: string, element: "script" | "link" | "img" = "script") => {
    const failedElement = page.appendChild(document.createElement(element));
    failedElement.setAttribute(element === "link" ? "href" : "src", address);
    failedElement.dispatchEvent(new Event("error"));
  };
  return { scripts, fetch, fails: failLoading };
}

describe("fetchAnew", () => {
  it("fetches what did not load past the cache, with its hash, and once", async () => {
    const { scripts, fetch, fails } = setUp();
    fails(`${base}1.js`);
    fails("https://portal.example/r/secrets/secrets-1/1.js");
    fails(`${base}picture.png`, "img");
    await scripts.refetchScripts(base);
    expect(fetch.mock.calls).toEqual([
      [`${base}1.js`, { cache: "reload", integrity: `hash of ${base}1.js`, signal: expect.any(AbortSignal) }],
    ]);
    await scripts.refetchScripts(base);
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it("fetches stylesheets too", async () => {
    const { scripts, fetch, fails } = setUp();
    fails(`${base}1.css`, "link");
    await scripts.refetchScripts(base);
    expect(fetch.mock.calls.map(([address]) => address)).toEqual([`${base}1.css`]);
  });

  it.each<[string, () => Promise<Response>]>([
    ["is not the signed one", () => Promise.reject(new TypeError("Failed to fetch"))],
    ["is not there", () => Promise.resolve(createResponse(404))],
  ])("fetches one that %s again the next time", async (_how, outcome) => {
    const { scripts, fetch, fails } = setUp();
    fetch.mockImplementationOnce(outcome);
    fails(`${base}1.js`);
    await scripts.refetchScripts(base);
    await scripts.refetchScripts(base);
    await scripts.refetchScripts(base);
    expect(fetch).toHaveBeenCalledTimes(2);
  });
});
