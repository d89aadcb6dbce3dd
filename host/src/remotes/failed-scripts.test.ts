import { trackFailedScripts } from "./failed-scripts.ts";
import { loadLimits } from "./load-with-retry.ts";

const base = "https://portal.example/r/settings/settings-1/";
const createResponse = (status = 200) =>
  ({ ok: status === 200, status, arrayBuffer: () => Promise.resolve(new ArrayBuffer(0)) }) as Response;

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
  it("fetches a failed script once past the cache, and compares it with its hash", async () => {
    const { scripts, fetch, failLoading } = setUp();
    failLoading(`${base}1.js`);
    failLoading("https://portal.example/r/secrets/secrets-1/1.js");
    failLoading(`${base}picture.png`, "img");
    await expect(scripts.refetchScripts(base)).resolves.toBeNull();
    const signal = expect.any(AbortSignal);
    expect(fetch.mock.calls).toEqual([
      [`${base}1.js`, { cache: "reload", signal }],
      [`${base}1.js`, { cache: "force-cache", integrity: `hash of ${base}1.js`, signal }],
    ]);
    await scripts.refetchScripts(base);
    expect(fetch).toHaveBeenCalledTimes(2);
  });

  it("fetches stylesheets too", async () => {
    const { scripts, fetch, failLoading } = setUp();
    failLoading(`${base}1.css`, "link");
    await scripts.refetchScripts(base);
    expect(fetch.mock.calls[0]?.[0]).toBe(`${base}1.css`);
  });

  const failToFetch = () => Promise.reject(new TypeError("Failed to fetch"));
  const createAnswer = (status: number) => () => Promise.resolve(createResponse(status));
  it.each<[string, string, readonly (() => Promise<Response>)[]]>([
    ["does not match its hash", "remote_altered", [createAnswer(200), failToFetch]],
    ["is not found", "remote_file_missing", [createAnswer(404)]],
    ["is gone", "remote_file_missing", [createAnswer(410)]],
    ["cannot be served", "remote_unreachable", [createAnswer(502)]],
    ["gets no response", "remote_unreachable", [failToFetch]],
  ])("says why a script %s: %s, and fetches it again at the next call", async (_how, code, outcomes) => {
    const { scripts, fetch, failLoading } = setUp();
    for (const outcome of outcomes) fetch.mockImplementationOnce(outcome);
    failLoading(`${base}1.js`);
    await expect(scripts.refetchScripts(base)).resolves.toBe(code);
    await expect(scripts.refetchScripts(base)).resolves.toBeNull();
    await expect(scripts.refetchScripts(base)).resolves.toBeNull();
    expect(fetch).toHaveBeenCalledTimes(outcomes.length + 2);
  });

  it("says that a script takes too long, after the time limit of an attempt", async () => {
    const limit = jest.spyOn(AbortSignal, "timeout").mockReturnValue(AbortSignal.abort());
    const { scripts, fetch, failLoading } = setUp();
    fetch.mockImplementationOnce(failToFetch);
    failLoading(`${base}1.js`);
    await expect(scripts.refetchScripts(base)).resolves.toBe("remote_timed_out");
    expect(limit).toHaveBeenCalledWith(loadLimits.attemptMs);
    limit.mockRestore();
  });
});
