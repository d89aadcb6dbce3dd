import type { ReleaseRecord, RemoteModule, RemoteName } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import type { VerifiedRemote } from "../deployment/verify.ts";
import { parseModule } from "./remote-module.ts";
import { loadLimits } from "./load-with-retry.ts";
import { createRemoteLoader } from "./loader.ts";

const Page = () => null;
const load = () => Promise.resolve({ default: Page });
const createModule = (name: RemoteName, more: Partial<RemoteModule> = {}): RemoteModule => ({
  routes: { [`/${name}`]: load },
  ...more,
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

const disabled = new Set<RemoteName>();

function setUp(loadModule: (name: RemoteName) => Promise<unknown> = (name) => Promise.resolve(createModule(name))) {
  disabled.clear();
  const remotes = new Map<RemoteName, VerifiedRemote>([
    ["secrets", { status: "verified", record: createRecord("secrets") }],
    ["sharing", { status: "refused", code: "remote_incompatible", manifest: null }],
  ]);
  const loadModuleMock = jest.fn(loadModule);
  const texts = jest.fn((_namespaces: readonly string[]) => Promise.resolve());
  const refetchScripts = jest.fn((_name: RemoteName) => Promise.resolve());
  const onFailure = jest.fn();
  const onMeasured = jest.fn();
  const loader = createRemoteLoader({
    remotes,
    isDisabled: (name) => disabled.has(name),
    loadModule: loadModuleMock,
    refetchScripts,
    loadTexts: texts,
    onFailure,
    onMeasured,
  });
  return { loader, faces: loadModuleMock, texts, anew: refetchScripts, onFailure, onMeasured };
}

describe("createRemoteLoader", () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it("loads a remote and its texts once", async () => {
    const { loader, faces, texts } = setUp();
    const [first, second] = await Promise.all([loader.load("secrets"), loader.load("secrets")]);
    expect(first).toBe(second);
    expect(faces).toHaveBeenCalledTimes(1);
    expect(texts).toHaveBeenCalledWith(["secrets-texts"]);
  });

  it("loads a remote without its texts for what it does elsewhere, and runs its entry once", async () => {
    const { loader, faces, texts, onMeasured } = setUp();
    await expect(loader.loadCode("secrets")).resolves.toMatchObject({ name: "secrets" });
    expect(texts).not.toHaveBeenCalled();
    expect(onMeasured).toHaveBeenCalledWith("secrets", "load", { milliseconds: 0 });
    expect(await loader.load("secrets")).toBe(await loader.loadCode("secrets"));
    expect(faces).toHaveBeenCalledTimes(1);
    expect(texts).toHaveBeenCalledTimes(1);
  });

  it("gives out nothing more of a remote that was switched off", async () => {
    const { loader, faces } = setUp();
    await loader.load("secrets");
    disabled.add("secrets");
    await expect(loader.load("secrets")).rejects.toMatchObject({ code: "remote_disabled" });
    await expect(loader.loadCode("secrets")).rejects.toMatchObject({ code: "remote_disabled" });
    expect(faces).toHaveBeenCalledTimes(1);
  });

  it("tries again with longer and longer pauses, and fetches anew what failed", async () => {
    const { loader, faces, anew } = setUp();
    faces.mockRejectedValueOnce(new Error("502")).mockRejectedValueOnce(new Error("502"));
    const loading = loader.load("secrets");
    await jest.advanceTimersByTimeAsync(loadLimits.firstDelayMs);
    expect(faces).toHaveBeenCalledTimes(2);
    await jest.advanceTimersByTimeAsync(loadLimits.firstDelayMs * loadLimits.delayFactor);
    await expect(loading).resolves.toMatchObject({ name: "secrets" });
    expect(anew.mock.calls).toEqual([["secrets"], ["secrets"], ["secrets"]]);
  });

  it("forgets a failure: asking again loads anew", async () => {
    let isReachable = false;
    const { loader, faces, onFailure } = setUp((name) =>
      isReachable ? Promise.resolve(createModule(name)) : Promise.reject(new Error("502")),
    );
    const failing = loader.load("secrets");
    failing.catch(() => undefined);
    await jest.advanceTimersByTimeAsync(5000);
    await expect(failing).rejects.toMatchObject({ code: "remote_unreachable" });
    expect(onFailure).toHaveBeenCalledWith("secrets", expect.objectContaining({ code: "remote_unreachable" }));
    expect(faces).toHaveBeenCalledTimes(3);
    isReachable = true;
    await expect(loader.load("secrets")).resolves.toMatchObject({ name: "secrets" });
  });

  it("gives up an attempt after its time limit", async () => {
    const { loader } = setUp(() => new Promise(() => undefined));
    const loading = loader.load("secrets");
    loading.catch(() => undefined);
    await jest.advanceTimersByTimeAsync(3 * loadLimits.attemptMs + 5000);
    await expect(loading).rejects.toMatchObject({ code: "remote_timed_out" });
  });

  it("does not wait for texts beyond that limit", async () => {
    const { loader, texts } = setUp();
    texts.mockReturnValueOnce(new Promise(() => undefined));
    const loading = loader.load("secrets");
    loading.catch(() => undefined);
    await jest.advanceTimersByTimeAsync(loadLimits.attemptMs);
    await expect(loading).rejects.toMatchObject({ code: "remote_timed_out" });
    await expect(loader.load("secrets")).resolves.toMatchObject({ name: "secrets" });
  });

  it.each<[RemoteName, string]>([
    ["sharing", "remote_incompatible"],
    ["settings", "remote_refused"],
  ])("runs no code of %s, whose release was refused", async (name, code) => {
    const { loader, faces } = setUp();
    await expect(loader.load(name)).rejects.toMatchObject({ code });
    expect(faces).not.toHaveBeenCalled();
  });

  it("says so when code ran and broke", async () => {
    const { loader } = setUp(() => Promise.reject(new Error("ScriptExecutionError: boom")));
    const loading = loader.load("secrets");
    loading.catch(() => undefined);
    await jest.advanceTimersByTimeAsync(5000);
    await expect(loading).rejects.toMatchObject({ code: "remote_crashed" });
  });

  it("loads a page once, and anew after a failure", async () => {
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
    await expect(failing).rejects.toMatchObject({ code: "remote_unreachable" });
    await expect(loader.loadPage("secrets", route)).resolves.toBe(Page);
    await expect(loader.loadPage("secrets", route)).resolves.toBe(Page);
    expect(load).toHaveBeenCalledTimes(4);
  });

  it("measures each load once, its repetitions included, and says why one failed", async () => {
    const { loader, faces, onMeasured } = setUp();
    faces.mockRejectedValueOnce(new Error("502"));
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
      { milliseconds: loadLimits.firstDelayMs * (1 + loadLimits.delayFactor), code: "remote_unreachable" },
    ]);
  });

  it("loads ahead, and says nothing when that fails", async () => {
    const load = jest.fn(() => Promise.resolve({ default: Page }));
    const { loader } = setUp((name) => Promise.resolve(createModule(name, { routes: { "/secrets": load } })));
    loader.prefetch("secrets", "/secrets");
    loader.prefetch("secrets", "/elsewhere");
    loader.prefetch("sharing", "/recived");
    await jest.advanceTimersByTimeAsync(0);
    expect(load).toHaveBeenCalledTimes(1);
  });

  it("loads a page ahead beside the texts, and nothing of a remote that is switched off", async () => {
    const load = jest.fn(() => Promise.resolve({ default: Page }));
    const { loader, faces, texts } = setUp((name) =>
      Promise.resolve(createModule(name, { routes: { "/secrets": load } })),
    );
    disabled.add("secrets");
    loader.prefetch("secrets", "/secrets");
    await jest.advanceTimersByTimeAsync(0);
    expect(faces).not.toHaveBeenCalled();
    disabled.clear();
    texts.mockReturnValue(new Promise(() => undefined));
    loader.prefetch("secrets", "/secrets");
    await jest.advanceTimersByTimeAsync(0);
    expect(load).toHaveBeenCalledTimes(1);
  });
});

describe("parseModule", () => {
  const { manifest } = createRecord("secrets");

  it("takes code that fits its manifest, in the manifest's order", () => {
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
    ["what the manifest says", { ...createModule("secrets"), capabilities: ["http"] }],
    ["nothing", undefined],
  ])("refuses %s", (_name, code) => {
    expect(() => parseModule(code, manifest)).toThrow("remote_refused");
  });

  it("takes nothing for the code of a route that every object has", () => {
    const routes = [
      { path: "constructor", titleKey: "secrets-texts:title", access: "signed_in", shell: true } as const,
    ];
    expect(() => parseModule({ routes: {} }, { ...manifest, routes })).toThrow("remote_refused");
  });
});

describe("PortalError of a load", () => {
  it("keeps the code that the record was refused with", async () => {
    const { loader } = setUp();
    await expect(loader.load("sharing")).rejects.toBeInstanceOf(PortalError);
  });
});
