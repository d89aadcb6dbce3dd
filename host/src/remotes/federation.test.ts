import type { ReleaseRecord, RemoteName } from "@relicario/shared/contract";
import { init } from "@module-federation/enhanced/runtime";

import { getReleaseUrl } from "../deployment/integrity.ts";
import { loadModule, registerReleases } from "./federation.ts";

const hash = `sha384-${"r".repeat(64)}`;
const createRecord = (name: RemoteName): ReleaseRecord => ({
  v: 1,
  release: `${name}-0.3.1-0123456789ab`,
  version: "0.3.1",
  manifest: {
    ...{ name, contract: "^3", title: { en: name, es: name } },
    ...{ routes: [], namespaces: [], capabilities: [], api_paths: [] },
  },
  files: { "remoteEntry.js": hash },
  federation: { id: name, name },
});

const rejectBroken = () => Promise.reject(new Error("broken"));
const resolveInit = () => Promise.resolve();
const resolveModule = (run: () => unknown) => () => Promise.resolve(run);
const throwBroken = () => {
  throw new Error("broken");
};

/** Loads a requested script, and returns the name of the event that the browser would fire. */
type LoadScript = (script: HTMLScriptElement) => string;
const runEntry =
  (container: object): LoadScript =>
  ({ src }) => {
    Object.assign(globalThis, { [`relicario_${new URL(src).pathname.split("/")[2] ?? ""}`]: container });
    return "load";
  };

async function load(name: RemoteName, browser: LoadScript) {
  const scripts: HTMLScriptElement[] = [];
  const observer = new MutationObserver((changes) => {
    for (const script of changes.flatMap(({ addedNodes }) => [...addedNodes])) {
      if (!(script instanceof HTMLScriptElement)) continue;
      scripts.push(script);
      script.dispatchEvent(new Event(browser(script)));
    }
  });
  observer.observe(document, { childList: true, subtree: true });
  const record = createRecord(name);
  registerReleases({ remotes: new Map([[name, { status: "verified", record }]]) }, location.origin);
  try {
    return await loadModule(name);
  } finally {
    observer.disconnect();
    expect(scripts.map(({ src, integrity, crossOrigin }) => ({ src, integrity, crossOrigin }))).toEqual([
      { src: `${getReleaseUrl(location.origin, record)}remoteEntry.js`, integrity: hash, crossOrigin: "anonymous" },
    ]);
  }
}

describe("loadModule", () => {
  beforeAll(() => {
    init({ name: "relicario_host", remotes: [] });
    jest.spyOn(console, "error").mockImplementation(() => undefined); // federation logs what it throws
  });

  it("returns the default export of a remote's module, loaded by a script with the signed hash", async () => {
    await expect(
      load("good", runEntry({ init: resolveInit, get: resolveModule(() => ({ default: "code" })) })),
    ).resolves.toBe("code");
  });

  it.each<[string, RemoteName, string, LoadScript]>([
    ["does not load", "absent", "remote_unreachable", () => "error"],
    [
      "throws while it runs",
      "throwing",
      "remote_crashed",
      ({ src }) => {
        window.dispatchEvent(new ErrorEvent("error", { filename: src, message: "broken" }));
        return "load";
      },
    ],
    ["leaves no container", "empty", "remote_crashed", () => "load"],
    [
      "cannot be initialised",
      "uninitialised",
      "remote_crashed",
      runEntry({ init: rejectBroken, get: resolveModule(throwBroken) }),
    ],
    [
      "has a module that throws",
      "broken",
      "remote_crashed",
      runEntry({ init: resolveInit, get: resolveModule(throwBroken) }),
    ],
  ])("rejects with the matching code when an entry %s", async (_case, name, code, browser) => {
    await expect(load(name, browser)).rejects.toMatchObject({ code });
  });

  it("passes errors of scripts other than the entry to the loader", async () => {
    await expect(load("chunkless", runEntry({ init: resolveInit, get: rejectBroken }))).rejects.toThrow("broken");
  });
});
