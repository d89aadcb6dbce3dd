import type { LoadPage, RemoteName } from "@relicario/shared/contract";
import { isPortalError, PortalError, toPortalError, type ErrorCode } from "@relicario/shared/errors";
import type { ComponentType } from "react";

import type { VerifiedDeployment, VerifiedRemote } from "../deployment/verify.ts";
import { parseModule, type LazyRoute, type LoadedModule } from "./remote-module.ts";
import { loadWithRetry, withAttemptTimeout } from "./load-with-retry.ts";

export interface LoaderDeps {
  readonly remotes: VerifiedDeployment["remotes"];
  /**
   * Whether its release was switched off while this page is open. Then nothing of it is loaded or
   * given out any more.
   */
  readonly isDisabled: (name: RemoteName) => boolean;
  /** Runs a remote's entry; federation.ts. */
  readonly loadModule: (name: RemoteName) => Promise<unknown>;
  /**
   * Fetches the scripts of its release that did not load past the browser's cache. Never rejects;
   * failed-scripts.ts.
   */
  readonly refetchScripts: (name: RemoteName) => Promise<void>;
  /** Fetches the texts of the namespaces that a remote owns. */
  readonly loadTexts: (namespaces: readonly string[]) => Promise<void>;
  readonly onFailure: (name: RemoteName, error: PortalError) => void;
  /**
   * Told of each load of a remote (`load`) or of the code of a screen (`loadPage`), how long it
   * took with its repetitions, and why it failed.
   */
  readonly onMeasured: (
    name: RemoteName,
    phase: "load" | "page",
    outcome: { readonly milliseconds: number; readonly code?: ErrorCode },
  ) => void;
}

/**
 * Loads remotes and their pages. Results are cached; failures are not, so that the next call loads
 * again.
 */
export interface RemoteLoader {
  /**
   * With its texts. `remote_refused`, `remote_incompatible`, `remote_disabled`,
   * `remote_unreachable`, `remote_timed_out`, `remote_crashed`.
   */
  readonly load: (name: RemoteName) => Promise<LoadedModule>;
  /**
   * Without them, for what a remote does elsewhere than on its own screens: it loads the texts of
   * what it draws there itself.
   */
  readonly loadCode: (name: RemoteName) => Promise<LoadedModule>;
  /** The page of a route; the same promise for routes with the same code, until it fails. */
  readonly loadPage: (name: RemoteName, route: LazyRoute) => Promise<ComponentType>;
  /**
   * Loads a remote and the page of this path pattern before they are needed. Failures are ignored.
   */
  readonly prefetch: (name: RemoteName, path: string) => void;
}

export function createRemoteLoader({
  remotes,
  isDisabled,
  loadModule,
  refetchScripts,
  loadTexts,
  onFailure,
  onMeasured,
}: LoaderDeps): RemoteLoader {
  const loadScripts = <T>(name: RemoteName, run: () => Promise<T>): Promise<T> =>
    loadWithRetry(() => refetchScripts(name).then(run), toLoadError, isRetryable);
  /** With their texts. */
  const modulesWithTexts = new Map<RemoteName, Promise<LoadedModule>>();
  /** For what a remote does elsewhere. */
  const modulesWithoutTexts = new Map<RemoteName, Promise<LoadedModule>>();
  const entryModules = new Map<RemoteName, Promise<LoadedModule>>();
  const pages = new Map<LoadPage, Promise<ComponentType>>();

  const loadWithTexts = async (name: RemoteName): Promise<LoadedModule> => {
    const { manifest } = requireRecord(remotes.get(name));
    const texts = loadTexts(manifest.namespaces); // has its own retries
    texts.catch(() => undefined); // awaited below
    const module = await loadEntry(name);
    await withAttemptTimeout(texts);
    return module;
  };

  const loadEntry = (name: RemoteName): Promise<LoadedModule> =>
    memoise(entryModules, name, async () => {
      const { manifest } = requireRecord(remotes.get(name));
      return parseModule(await loadScripts(name, () => loadModule(name)), manifest);
    });

  const loadUnlessDisabled = (
    cache: Map<RemoteName, Promise<LoadedModule>>,
    name: RemoteName,
    loadRemote: (name: RemoteName) => Promise<LoadedModule>,
  ): Promise<LoadedModule> =>
    isDisabled(name)
      ? Promise.reject(new PortalError("remote_disabled"))
      : memoise(cache, name, () => measure(name, "load", loadRemote(name)));

  const load = (name: RemoteName): Promise<LoadedModule> => loadUnlessDisabled(modulesWithTexts, name, loadWithTexts);
  const loadWithoutTexts = (name: RemoteName): Promise<LoadedModule> =>
    loadUnlessDisabled(modulesWithoutTexts, name, loadEntry);

  const loadPage = (name: RemoteName, route: LazyRoute): Promise<ComponentType> =>
    memoise(pages, route.load, () =>
      measure(
        name,
        "page",
        loadScripts(name, () => route.load()).then(({ default: component }) => component),
      ),
    );

  const measure = async <T>(name: RemoteName, phase: "load" | "page", loading: Promise<T>): Promise<T> => {
    const start = performance.now();
    try {
      const result = await loading;
      onMeasured(name, phase, { milliseconds: performance.now() - start });
      return result;
    } catch (error) {
      const failure = toLoadError(error);
      onMeasured(name, phase, { milliseconds: performance.now() - start, code: failure.code });
      onFailure(name, failure);
      throw failure;
    }
  };

  return Object.freeze<RemoteLoader>({
    load,
    loadCode: loadWithoutTexts,
    loadPage,
    prefetch: (name, path) => {
      if (isDisabled(name)) return;
      load(name).catch(() => undefined); // shown, with a way to retry, when somebody goes there
      loadEntry(name)
        .then(({ routes }) => {
          const route = routes.find((candidate) => candidate.path === path);
          return route === undefined ? null : loadPage(name, route); // need not wait for the texts
        })
        .catch(() => undefined); // the same
    },
  });
}

function memoise<K, T>(cache: Map<K, Promise<T>>, key: K, load: () => Promise<T>): Promise<T> {
  const existing = cache.get(key);
  if (existing !== undefined) return existing;
  const promise = load();
  cache.set(key, promise);
  promise.catch(() => {
    if (cache.get(key) === promise) cache.delete(key);
  });
  return promise;
}

function requireRecord(remote: VerifiedRemote | undefined) {
  if (remote === undefined) throw new PortalError("remote_refused");
  if (remote.status === "refused") throw new PortalError(remote.code);
  return remote.record;
}

/**
 * Whether loading is repeated. Wider than `isTransient`: a script can fail temporarily with any
 * error, so only refusals by the signed record are final.
 */
function isRetryable(error: unknown): boolean {
  return !isPortalError(error, "remote_refused", "remote_incompatible", "remote_disabled");
}

function toLoadError(error: unknown): PortalError {
  const portalError = toPortalError(error);
  if (portalError.code !== "unknown") return portalError;
  const hasCrashed = error instanceof Error && error.message.includes("ScriptExecutionError");
  return new PortalError(hasCrashed ? "remote_crashed" : "remote_unreachable", { cause: error });
}
