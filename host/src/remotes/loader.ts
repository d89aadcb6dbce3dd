import type { LoadPage, RemoteName } from "@relicario/shared/contract";
import { isPortalError, PortalError, toPortalError, type ErrorCode } from "@relicario/shared/errors";
import type { ComponentType } from "react";

import type { VerifiedDeployment, VerifiedRemote } from "../deployment/verify.ts";
import { parseModule, type LazyRoute, type ParsedModule } from "./remote-module.ts";
import { loadWithRetry, withAttemptTimeout } from "./load-with-retry.ts";

export interface LoaderDeps {
  readonly remotes: VerifiedDeployment["remotes"];
  /**
   * Whether the remote's release was disabled while this page is open. The loader then rejects
   * every load of it.
   */
  readonly isDisabled: (name: RemoteName) => boolean;
  /** Runs a remote's entry (federation.ts). */
  readonly loadModule: (name: RemoteName) => Promise<unknown>;
  /**
   * Fetches the scripts of the remote's release that failed to load, bypassing the browser's cache
   * (failed-scripts.ts). Never rejects.
   */
  readonly refetchScripts: (name: RemoteName) => Promise<void>;
  readonly loadTexts: (namespaces: readonly string[]) => Promise<void>;
  readonly onFailure: (name: RemoteName, error: PortalError) => void;
  /**
   * Called after each load of a remote or of a page's code, with its duration including retries,
   * and the code of a failure.
   */
  readonly onMeasured: (
    name: RemoteName,
    phase: "load" | "page",
    outcome: { readonly milliseconds: number; readonly code?: ErrorCode },
  ) => void;
}

/**
 * Loads remotes and their pages. Caches results but no failures: after a failure the next call
 * loads again.
 */
export interface RemoteLoader {
  /**
   * Loads a remote with its texts. Rejects with `remote_refused`, `remote_incompatible`,
   * `remote_disabled`, `remote_unreachable`, `remote_timed_out` or `remote_crashed`.
   */
  readonly load: (name: RemoteName) => Promise<ParsedModule>;
  /**
   * Loads a remote without its texts, for uses outside its own screens. Such uses load the texts
   * that they need.
   */
  readonly loadWithoutTexts: (name: RemoteName) => Promise<ParsedModule>;
  /** Loads the page of a route. Routes with the same code share one promise, until it fails. */
  readonly loadPage: (name: RemoteName, route: LazyRoute) => Promise<ComponentType>;
  /** Loads a remote and the page of a path pattern before they are needed. Ignores failures. */
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
  const modulesWithTexts = new Map<RemoteName, Promise<ParsedModule>>();
  const modulesWithoutTexts = new Map<RemoteName, Promise<ParsedModule>>();
  const entryModules = new Map<RemoteName, Promise<ParsedModule>>();
  const pages = new Map<LoadPage, Promise<ComponentType>>();

  const loadWithTexts = async (name: RemoteName): Promise<ParsedModule> => {
    const { manifest } = requireRecord(remotes.get(name));
    const textsPromise = loadTexts(manifest.namespaces); // loadTexts retries itself
    textsPromise.catch(() => undefined); // awaited below
    const module = await loadEntry(name);
    await withAttemptTimeout(textsPromise);
    return module;
  };

  const loadEntry = (name: RemoteName): Promise<ParsedModule> =>
    memoise(entryModules, name, async () => {
      const { manifest } = requireRecord(remotes.get(name));
      return parseModule(await loadScripts(name, () => loadModule(name)), manifest);
    });

  const loadUnlessDisabled = (
    cache: Map<RemoteName, Promise<ParsedModule>>,
    name: RemoteName,
    loadRemote: (name: RemoteName) => Promise<ParsedModule>,
  ): Promise<ParsedModule> =>
    isDisabled(name)
      ? Promise.reject(new PortalError("remote_disabled"))
      : memoise(cache, name, () => measure(name, "load", loadRemote(name)));

  const load = (name: RemoteName): Promise<ParsedModule> => loadUnlessDisabled(modulesWithTexts, name, loadWithTexts);
  const loadWithoutTexts = (name: RemoteName): Promise<ParsedModule> =>
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
    loadWithoutTexts,
    loadPage,
    prefetch: (name, path) => {
      if (isDisabled(name)) return;
      load(name).catch(() => undefined); // the area shows the failure, with a retry
      loadEntry(name)
        .then(({ routes }) => {
          const route = routes.find((candidate) => candidate.path === path);
          return route === undefined ? null : loadPage(name, route); // without waiting for the texts
        })
        .catch(() => undefined); // the area shows this failure too
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
 * Whether a retry may help. Includes more errors than `isTransient`, because a script can fail
 * temporarily with any error. Only refusals by the signed record are final.
 */
function isRetryable(error: unknown): boolean {
  return !isPortalError(error, "remote_refused", "remote_incompatible", "remote_disabled");
}

function toLoadError(error: unknown): PortalError {
  const portalError = toPortalError(error);
  return portalError.code === "unknown" ? new PortalError("remote_unreachable", { cause: error }) : portalError;
}
