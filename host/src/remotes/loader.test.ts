import type { ReleaseRecord, RemoteModule, RemoteName } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import type { VerifiedRemote } from "../deployment/verify.ts";
import type { FileFailure } from "./failed-scripts.ts";
import { parseModule } from "./remote-module.ts";
import { loadLimits } from "./load-with-retry.ts";
import { createRemoteLoader } from "./loader.ts";

const Page = () => null;
const load = () => Promise.resolve({ default: Page });
const createModule = (name: RemoteName, changes: Partial<RemoteModule> = {}): RemoteModule => ({
  routes: { [`/${name}`]: load },
  ...changes,
});
const createRecord = (remote: RemoteName): ReleaseRecord => ({
  v: 1,
  release: `${remote}-0.3.1-0123456789ab`,
  version: "0.3.1",
  manifest: {
    name: remote,
    contract: "^3",
    title: { en: remote, es: remote },
    routes: [{ path: `/${remote}`, titleKey: `${remote}-texts:title`, access: "signed_in", shell: true }],
    namespaces: [`${remote}-texts`],
    capabilities: [],
    api_paths: [],
  },
  files: { "remoteEntry.js": `sha384-${"r".repeat(64)}` },
  federation: { id: remote, name: remote },
});

const disabledRemotes = new Set<RemoteName>();

/** The error of webpack's runtime when a chunk does not load. */
const createChunkError = (type: "error" | "missing" | "timeout") =>
  Object.assign(new Error("Loading chunk 1 failed."), { name: "ChunkLoadError", type });

function setUp(loadModule: (name: RemoteName) => Promise<unknown> = (name) => Promise.resolve(createModule(name))) {
  disabledRemotes.clear();
  const remotes = new Map<RemoteName, VerifiedRemote>([
    ["secrets", { status: "verified", record: createRecord("secrets") }],
    ["sharing", { status: "refused", code: "remote_incompatible", manifest: null }],
  ]);
  const loadModuleMock = jest.fn(loadModule);
  const loadTexts = jest.fn((_namespaces: readonly string[]) => Promise.resolve());
  const refetchScripts = jest.fn((_name: RemoteName): Promise<FileFailure | null> => Promise.resolve(null));
  const onLoaded = jest.fn();
  const onLoading = jest.fn((_name: RemoteName) => onLoaded);
  const onFailure = jest.fn();
  const onMeasured = jest.fn();
  const loader = createRemoteLoader({
    remotes,
    isDisabled: (name) => disabledRemotes.has(name),
    loadModule: loadModuleMock,
    refetchScripts,
    loadTexts,
    onLoading,
    onFailure,
    onMeasured,
  });
  return {
    loader,
    loadModule: loadModuleMock,
    texts: loadTexts,
    refetchScripts,
    onLoading,
    onLoaded,
    onFailure,
    onMeasured,
  };
}

describe("createRemoteLoader", () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it("loads a remote and its texts once", async () => {
    const { loader, loadModule, texts } = setUp();
    const [first, second] = await Promise.all([loader.load("secrets"), loader.load("secrets")]);
    expect(first).toBe(second);
    expect(loadModule).toHaveBeenCalledTimes(1);
    expect(texts).toHaveBeenCalledWith(["secrets-texts"]);
  });

  it("loads a remote without its texts, and runs its entry only once", async () => {
    const { loader, loadModule, texts, onMeasured } = setUp();
    await expect(loader.loadWithoutTexts("secrets")).resolves.toMatchObject({ name: "secrets" });
    expect(texts).not.toHaveBeenCalled();
    expect(onMeasured).toHaveBeenCalledWith("secrets", "load", { milliseconds: 0 });
    expect(await loader.load("secrets")).toBe(await loader.loadWithoutTexts("secrets"));
    expect(loadModule).toHaveBeenCalledTimes(1);
    expect(texts).toHaveBeenCalledTimes(1);
  });

  it("says while code of a remote is being loaded", async () => {
    const { loader, onLoading, onLoaded } = setUp();
    const loading = loader.load("secrets");
    expect(onLoading.mock.calls).toEqual([["secrets"]]);
    expect([loader.isImporting(), onLoaded.mock.calls.length]).toEqual([true, 0]);
    await loading;
    expect([loader.isImporting(), onLoaded.mock.calls.length]).toEqual([false, 1]);
    await expect(loader.load("sharing")).rejects.toMatchObject({ code: "remote_incompatible" });
    expect(onLoading).toHaveBeenCalledTimes(1);
  });

  it("rejects for a remote that was disabled", async () => {
    const { loader, loadModule } = setUp();
    await loader.load("secrets");
    disabledRemotes.add("secrets");
    await expect(loader.load("secrets")).rejects.toMatchObject({ code: "remote_disabled" });
    await expect(loader.loadWithoutTexts("secrets")).rejects.toMatchObject({ code: "remote_disabled" });
    expect(loadModule).toHaveBeenCalledTimes(1);
  });

  it("retries with growing pauses, and refetches failed scripts before each", async () => {
    const { loader, loadModule, refetchScripts } = setUp();
    loadModule.mockRejectedValueOnce(createChunkError("error")).mockRejectedValueOnce(createChunkError("error"));
    const loading = loader.load("secrets");
    await jest.advanceTimersByTimeAsync(loadLimits.firstDelayMs);
    expect(loadModule).toHaveBeenCalledTimes(2);
    await jest.advanceTimersByTimeAsync(loadLimits.firstDelayMs * loadLimits.delayFactor);
    await expect(loading).resolves.toMatchObject({ name: "secrets" });
    expect(refetchScripts.mock.calls).toEqual([["secrets"], ["secrets"]]);
  });

  it("does not cache a failure: the next call loads again", async () => {
    let isReachable = false;
    const { loader, loadModule, onFailure } = setUp((name) =>
      isReachable ? Promise.resolve(createModule(name)) : Promise.reject(new PortalError("remote_unreachable")),
    );
    const failing = loader.load("secrets");
    failing.catch(() => undefined);
    await jest.advanceTimersByTimeAsync(5000);
    await expect(failing).rejects.toMatchObject({ code: "remote_unreachable" });
    expect(onFailure).toHaveBeenCalledWith("secrets", expect.objectContaining({ code: "remote_unreachable" }));
    expect(loadModule).toHaveBeenCalledTimes(3);
    isReachable = true;
    await expect(loader.load("secrets")).resolves.toMatchObject({ name: "secrets" });
  });

  it("rejects an attempt after its time limit", async () => {
    const { loader } = setUp(() => new Promise(() => undefined));
    const loading = loader.load("secrets");
    loading.catch(() => undefined);
    await jest.advanceTimersByTimeAsync(3 * loadLimits.attemptMs + 5000);
    await expect(loading).rejects.toMatchObject({ code: "remote_timed_out" });
  });

  it("rejects when the texts do not load within the same time limit", async () => {
    const { loader, texts } = setUp();
    texts.mockReturnValueOnce(new Promise(() => undefined));
    const loading = loader.load("secrets");
    loading.catch(() => undefined);
    await jest.advanceTimersByTimeAsync(loadLimits.attemptMs);
    await expect(loading).rejects.toMatchObject({ code: "remote_texts_missing" });
    await expect(loader.load("secrets")).resolves.toMatchObject({ name: "secrets" });
  });

  it.each<[RemoteName, string]>([
    ["sharing", "remote_incompatible"],
    ["settings", "remote_refused"],
  ])("runs no code of a refused release: %s", async (name, code) => {
    const { loader, loadModule } = setUp();
    await expect(loader.load(name)).rejects.toMatchObject({ code });
    expect(loadModule).not.toHaveBeenCalled();
  });

  it.each<[string, string, Error, FileFailure | null]>([
    ["its entry threw", "remote_crashed", new PortalError("remote_crashed"), null],
    ["its module threw", "remote_crashed", new TypeError("x is not a function"), null],
    ["a chunk did not run to its end", "remote_crashed", createChunkError("missing"), null],
    ["a chunk took too long", "remote_timed_out", createChunkError("timeout"), null],
    ["a chunk has other bytes", "remote_altered", createChunkError("error"), "remote_altered"],
    ["a chunk is not there", "remote_file_missing", createChunkError("error"), "remote_file_missing"],
    ["its entry is not there", "remote_file_missing", new PortalError("remote_unreachable"), "remote_file_missing"],
    ["a chunk loads only by now", "remote_unreachable", createChunkError("error"), null],
  ])("tells when %s: %s", async (_why, code, failure, fileFailure) => {
    const { loader, refetchScripts } = setUp(() => Promise.reject(failure));
    refetchScripts.mockResolvedValue(fileFailure);
    const loading = loader.load("secrets");
    loading.catch(() => undefined);
    const page = loader.loadPage("secrets", { path: "/x", load: () => Promise.reject(failure) });
    page.catch(() => undefined);
    await jest.advanceTimersByTimeAsync(5000);
    await expect(loading).rejects.toMatchObject({ code });
    await expect(page).rejects.toMatchObject({ code });
  });

  it("tells that its texts do not come", async () => {
    const { loader, texts } = setUp();
    texts.mockRejectedValueOnce(new PortalError("remote_texts_missing"));
    await expect(loader.load("secrets")).rejects.toMatchObject({ code: "remote_texts_missing" });
  });

  it("loads a page once, but again after a failure", async () => {
    const { loader } = setUp();
    const load = jest.fn(() => Promise.resolve({ default: Page }));
    load
      .mockRejectedValueOnce(new Error("x"))
      .mockRejectedValueOnce(new Error("x"))
      .mockRejectedValueOnce(new Error("x"));
    const route = { path: "/x", load };
    const failing = loader.loadPage("secrets", route);
    failing.catch(() => undefined);
    await jest.advanceTimersByTimeAsync(5000);
    await expect(failing).rejects.toMatchObject({ code: "remote_crashed" });
    await expect(loader.loadPage("secrets", route)).resolves.toBe(Page);
    await expect(loader.loadPage("secrets", route)).resolves.toBe(Page);
    expect(load).toHaveBeenCalledTimes(4);
  });

  it("reports each load once, with its duration including retries and the code of a failure", async () => {
    const { loader, loadModule, onMeasured } = setUp();
    loadModule.mockRejectedValueOnce(new Error("502"));
    const route = { path: "/x", load: () => Promise.reject(new Error("502")) };
    const loading = Promise.allSettled([
      loader.load("secrets"),
      loader.load("secrets"),
      loader.loadPage("secrets", route),
    ]);
    await jest.advanceTimersByTimeAsync(5000);
    await loading;
    const [page, remote] = onMeasured.mock.calls.toSorted(([, a], [, b]) => (a > b ? -1 : 1));
    expect(onMeasured).toHaveBeenCalledTimes(2);
    expect(remote).toEqual(["secrets", "load", { milliseconds: loadLimits.firstDelayMs }]);
    expect(page).toEqual([
      "secrets",
      "page",
      { milliseconds: loadLimits.firstDelayMs * (1 + loadLimits.delayFactor), code: "remote_crashed" },
    ]);
  });

  it("prefetches a remote and its page, and ignores failures", async () => {
    const load = jest.fn(() => Promise.resolve({ default: Page }));
    const { loader } = setUp((name) => Promise.resolve(createModule(name, { routes: { "/secrets": load } })));
    loader.prefetch("secrets", "/secrets");
    loader.prefetch("secrets", "/elsewhere");
    loader.prefetch("sharing", "/recived");
    await jest.advanceTimersByTimeAsync(0);
    expect(load).toHaveBeenCalledTimes(1);
  });

  it("prefetches a page without waiting for the texts, but nothing of a disabled remote", async () => {
    const load = jest.fn(() => Promise.resolve({ default: Page }));
    const { loader, loadModule, texts } = setUp((name) =>
      Promise.resolve(createModule(name, { routes: { "/secrets": load } })),
    );
    disabledRemotes.add("secrets");
    loader.prefetch("secrets", "/secrets");
    await jest.advanceTimersByTimeAsync(0);
    expect(loadModule).not.toHaveBeenCalled();
    disabledRemotes.clear();
    texts.mockReturnValue(new Promise(() => undefined));
    loader.prefetch("secrets", "/secrets");
    await jest.advanceTimersByTimeAsync(0);
    expect(load).toHaveBeenCalledTimes(1);
  });
});

describe("parseModule", () => {
  const { manifest } = createRecord("secrets");

  it("returns the routes of a matching module in the order of its manifest", () => {
    const routes = ["/secrets", "/home"].map(
      (path) => ({ path, titleKey: "secrets-texts:title", access: "signed_in", shell: true }) as const,
    );
    expect(parseModule({ routes: { "/home": load, "/secrets": load } }, { ...manifest, routes })).toEqual({
      name: "secrets",
      routes: [
        { path: "/secrets", load },
        { path: "/home", load },
      ],
    });
  });

  it.each<[string, unknown]>([
    ["the code of another remote", createModule("settings")],
    ["code for no route", { routes: {} }],
    ["code for a route that the manifest does not name", { routes: { "/secrets": load, "/settings": load } }],
    ["a route that loads nothing", { routes: { "/secrets": "x" } }],
    ["members of the manifest", { ...createModule("secrets"), capabilities: ["http"] }],
    ["nothing", undefined],
  ])("refuses %s", (_name, code) => {
    expect(() => parseModule(code, manifest)).toThrow("remote_refused");
  });

  it("does not take an inherited property for a route's code", () => {
    const routes = [
      { path: "constructor", titleKey: "secrets-texts:title", access: "signed_in", shell: true } as const,
    ];
    expect(() => parseModule({ routes: {} }, { ...manifest, routes })).toThrow("remote_refused");
  });
});

describe("the error of a refused remote", () => {
  it("is a PortalError", async () => {
    const { loader } = setUp();
    await expect(loader.load("sharing")).rejects.toBeInstanceOf(PortalError);
  });
});
