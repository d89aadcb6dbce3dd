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
  return { scripts, fetch, failLoading };
}

describe("refetchScripts", () => {
  it("fetches a failed script once, past the cache and with its hash", async () => {
    const { scripts, fetch, failLoading } = setUp();
    failLoading(`${base}1.js`);
    failLoading("https://portal.example/r/secrets/secrets-1/1.js");
    failLoading(`${base}picture.png`, "img");
    await scripts.refetchScripts(base);
    expect(fetch.mock.calls).toEqual([
      [`${base}1.js`, { cache: "reload", integrity: `hash of ${base}1.js`, signal: expect.any(AbortSignal) }],
    ]);
    await scripts.refetchScripts(base);
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it("fetches stylesheets too", async () => {
    const { scripts, fetch, failLoading } = setUp();
    failLoading(`${base}1.css`, "link");
    await scripts.refetchScripts(base);
    expect(fetch.mock.calls.map(([address]) => address)).toEqual([`${base}1.css`]);
  });

  it.each<[string, () => Promise<Response>]>([
    ["does not match its hash", () => Promise.reject(new TypeError("Failed to fetch"))],
    ["is not found", () => Promise.resolve(createResponse(404))],
  ])("fetches again at the next call a script that %s", async (_how, outcome) => {
    const { scripts, fetch, failLoading } = setUp();
    fetch.mockImplementationOnce(outcome);
    failLoading(`${base}1.js`);
    await scripts.refetchScripts(base);
    await scripts.refetchScripts(base);
    await scripts.refetchScripts(base);
    expect(fetch).toHaveBeenCalledTimes(2);
  });
});
