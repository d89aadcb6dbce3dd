import type { LoadPage, RemoteName } from "@relicario/shared/contract";
import { isPortalError, PortalError, toPortalError, type ErrorCode } from "@relicario/shared/errors";
import type { ComponentType } from "react";

import type { VerifiedDeployment, VerifiedRemote } from "../deployment/verify.ts";
import type { FileFailure } from "./failed-scripts.ts";
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
   * Fetches the files of the remote's release that failed to load, bypassing the browser's cache,
   * and returns why one does not load (failed-scripts.ts). Never rejects.
   */
  readonly refetchScripts: (name: RemoteName) => Promise<FileFailure | null>;
  readonly loadTexts: (namespaces: readonly string[]) => Promise<void>;
  /** Called before code of a remote is loaded. Returns a function that is called once it was. */
  readonly onLoading: (name: RemoteName) => () => void;
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
   * Loads a remote with its texts. Rejects with `remote_refused`, `remote_incompatible` or
   * `remote_disabled` without running its code, with a {@link FileFailure}, `remote_texts_missing`,
   * or `remote_crashed` when its code threw.
   */
  readonly load: (name: RemoteName) => Promise<ParsedModule>;
  /**
   * Loads a remote without its texts, for uses outside its own screens. Such uses load the texts
   * that they need.
   */
  readonly loadWithoutTexts: (name: RemoteName) => Promise<ParsedModule>;
  /** Loads the page of a route. Routes with the same code share one promise, until it fails. */
  readonly loadPage: (name: RemoteName, route: LazyRoute) => Promise<ComponentType>;
  /** Whether code of a remote is being loaded, and so may run for the first time. */
  readonly isImporting: () => boolean;
  /** Loads a remote and the page of a path pattern before they are needed. Ignores failures. */
  readonly prefetch: (name: RemoteName, path: string) => void;
}

export function createRemoteLoader({
  remotes,
  isDisabled,
  loadModule,
  refetchScripts,
  loadTexts,
  onLoading,
  onFailure,
  onMeasured,
}: LoaderDeps): RemoteLoader {
  const loadScripts = <T>(name: RemoteName, run: () => Promise<T>): Promise<T> =>
    loadWithRetry(run, (failure) => explainFailure(failure, () => refetchScripts(name)), isRetryable);
  const modulesWithTexts = new Map<RemoteName, Promise<ParsedModule>>();
  const modulesWithoutTexts = new Map<RemoteName, Promise<ParsedModule>>();
  const entryModules = new Map<RemoteName, Promise<ParsedModule>>();
  const pages = new Map<LoadPage, Promise<ComponentType>>();

  const loadWithTexts = async (name: RemoteName): Promise<ParsedModule> => {
    const { manifest } = requireRecord(remotes.get(name));
    const textsPromise = loadTexts(manifest.namespaces); // loadTexts retries itself
    textsPromise.catch(() => undefined); // awaited below
    const module = await loadEntry(name);
    await withAttemptTimeout(textsPromise).catch((cause: unknown) => {
      throw new PortalError("remote_texts_missing", { cause });
    });
    return module;
  };

  const loadEntry = (name: RemoteName): Promise<ParsedModule> =>
    memoise(entryModules, name, async () => {
      const { manifest } = requireRecord(remotes.get(name));
      return parseModule(await loadScripts(name, () => loadModule(name)), manifest);
    });

  /** Why no code of a remote may run. The host logged it when it refused the release. */
  const findRefusal = (name: RemoteName): ErrorCode | null => {
    if (isDisabled(name)) return "remote_disabled";
    const remote = remotes.get(name);
    return remote?.status === "refused" ? remote.code : null;
  };

  const loadUnlessRefused = (
    cache: Map<RemoteName, Promise<ParsedModule>>,
    name: RemoteName,
    loadRemote: (name: RemoteName) => Promise<ParsedModule>,
  ): Promise<ParsedModule> => {
    const refusal = findRefusal(name);
    return refusal === null
      ? memoise(cache, name, () => measure(name, "load", loadRemote(name)))
      : Promise.reject(new PortalError(refusal));
  };

  const load = (name: RemoteName): Promise<ParsedModule> => loadUnlessRefused(modulesWithTexts, name, loadWithTexts);
  const loadWithoutTexts = (name: RemoteName): Promise<ParsedModule> =>
    loadUnlessRefused(modulesWithoutTexts, name, loadEntry);

  const loadPage = (name: RemoteName, route: LazyRoute): Promise<ComponentType> =>
    memoise(pages, route.load, () =>
      measure(
        name,
        "page",
        loadScripts(name, () => route.load()).then(({ default: component }) => component),
      ),
    );

  let pendingLoads = 0;
  const measure = async <T>(name: RemoteName, phase: "load" | "page", loading: Promise<T>): Promise<T> => {
    const start = performance.now();
    pendingLoads += 1;
    const onLoaded = onLoading(name);
    try {
      const result = await loading;
      onMeasured(name, phase, { milliseconds: performance.now() - start });
      return result;
    } catch (error) {
      const failure = toLoadError(error);
      onMeasured(name, phase, { milliseconds: performance.now() - start, code: failure.code });
      onFailure(name, failure);
      throw failure;
    } finally {
      pendingLoads -= 1;
      onLoaded();
    }
  };

  return Object.freeze<RemoteLoader>({
    load,
    loadWithoutTexts,
    loadPage,
    isImporting: () => pendingLoads > 0,
    prefetch: (name, path) => {
      if (findRefusal(name) !== null) return;
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

/** Anything but a PortalError was thrown by the remote's code. */
function toLoadError(error: unknown): PortalError {
  const portalError = toPortalError(error);
  return portalError.code === "unknown" ? new PortalError("remote_crashed", { cause: error }) : portalError;
}

/** Finds out why code did not load: an element's error event says only that a file failed. */
async function explainFailure(
  failure: unknown,
  refetchScripts: () => Promise<FileFailure | null>,
): Promise<PortalError> {
  const chunkProblem = getChunkProblem(failure);
  if (chunkProblem === "timeout") return new PortalError("remote_timed_out", { cause: failure });
  if (chunkProblem !== "error" && !isPortalError(failure, "remote_unreachable")) return toLoadError(failure);
  return new PortalError((await refetchScripts()) ?? "remote_unreachable", { cause: failure });
}

/**
 * What webpack's runtime says of a script or stylesheet: `error` and `timeout` for one that did not
 * load, `missing` for one whose code did not run to its end. Null for any other failure.
 */
function getChunkProblem(failure: unknown): unknown {
  return failure instanceof Error && failure.name === "ChunkLoadError" && "type" in failure ? failure.type : null;
}
