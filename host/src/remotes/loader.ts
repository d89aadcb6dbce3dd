import type { LoadPage, RemoteName } from "@relicario/shared/contract";
import { isPortalError, PortalError, toPortalError, type ErrorCode } from "@relicario/shared/errors";
import type { ComponentType } from "react";

import type { VerifiedDeployment, VerifiedRemote } from "../deployment/verify.ts";
import { parseModule, type LazyRoute, type LoadedModule } from "./remote-module.ts";
import { loadWithRetry, withTimeLimit } from "./load-with-retry.ts";

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
  readonly fetchAnew: (name: RemoteName) => Promise<void>;
  /** Fetches the texts of the namespaces that a remote owns. */
  readonly loadTexts: (namespaces: readonly string[]) => Promise<void>;
  readonly onFailure: (name: RemoteName, error: PortalError) => void;
  /**
   * Told of each load of a remote (`load`) or of the code of a screen (`page`), how long it took
   * with its repetitions, and why it failed.
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
  readonly code: (name: RemoteName) => Promise<LoadedModule>;
  /** The page of a route; the same promise for routes with the same code, until it fails. */
  readonly page: (name: RemoteName, route: LazyRoute) => Promise<ComponentType>;
  /**
   * Loads a remote and the page of this path pattern before they are needed. Failures are ignored.
   */
  readonly prefetch: (name: RemoteName, path: string) => void;
}

export function createRemoteLoader({
  remotes,
  isDisabled,
  loadModule,
  fetchAnew,
  loadTexts,
  onFailure,
  onMeasured,
}: LoaderDeps): RemoteLoader {
  const loaded = <T>(name: RemoteName, run: () => Promise<T>): Promise<T> =>
    loadWithRetry(() => fetchAnew(name).then(run), loadError, isRepeatable);
  /** With their texts. */
  const modules = new Map<RemoteName, Promise<LoadedModule>>();
  /** For what a remote does elsewhere. */
  const codes = new Map<RemoteName, Promise<LoadedModule>>();
  const entries = new Map<RemoteName, Promise<LoadedModule>>();
  const pages = new Map<LoadPage, Promise<ComponentType>>();

  const loadOnce = async (name: RemoteName): Promise<LoadedModule> => {
    const { manifest } = recordOf(remotes.get(name));
    const texts = loadTexts(manifest.namespaces); // has its own retries
    texts.catch(() => undefined); // awaited below
    const known = await entry(name);
    await withTimeLimit(texts);
    return known;
  };

  const entry = (name: RemoteName): Promise<LoadedModule> =>
    cached(entries, name, async () => {
      const { manifest } = recordOf(remotes.get(name));
      return parseModule(await loaded(name, () => loadModule(name)), manifest);
    });

  const unlessDisabled = (
    cache: Map<RemoteName, Promise<LoadedModule>>,
    name: RemoteName,
    work: (name: RemoteName) => Promise<LoadedModule>,
  ): Promise<LoadedModule> =>
    isDisabled(name)
      ? Promise.reject(new PortalError("remote_disabled"))
      : cached(cache, name, () => measured(name, "load", work(name)));

  const load = (name: RemoteName): Promise<LoadedModule> => unlessDisabled(modules, name, loadOnce);
  const code = (name: RemoteName): Promise<LoadedModule> => unlessDisabled(codes, name, entry);

  const page = (name: RemoteName, route: LazyRoute): Promise<ComponentType> =>
    cached(pages, route.load, () =>
      measured(
        name,
        "page",
        loaded(name, () => route.load()).then(({ default: component }) => component),
      ),
    );

  const measured = async <T>(name: RemoteName, phase: "load" | "page", loading: Promise<T>): Promise<T> => {
    const start = performance.now();
    try {
      const result = await loading;
      onMeasured(name, phase, { milliseconds: performance.now() - start });
      return result;
    } catch (error) {
      const known = loadError(error);
      onMeasured(name, phase, { milliseconds: performance.now() - start, code: known.code });
      onFailure(name, known);
      throw known;
    }
  };

  return Object.freeze<RemoteLoader>({
    load,
    code,
    page,
    prefetch: (name, path) => {
      if (isDisabled(name)) return;
      load(name).catch(() => undefined); // shown, with a way to retry, when somebody goes there
      entry(name)
        .then(({ routes }) => {
          const route = routes.find((each) => each.path === path);
          return route === undefined ? null : page(name, route); // need not wait for the texts
        })
        .catch(() => undefined); // the same
    },
  });
}

function cached<K, T>(cache: Map<K, Promise<T>>, key: K, make: () => Promise<T>): Promise<T> {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const made = make();
  cache.set(key, made);
  made.catch(() => {
    if (cache.get(key) === made) cache.delete(key);
  });
  return made;
}

function recordOf(remote: VerifiedRemote | undefined) {
  if (remote === undefined) throw new PortalError("remote_refused");
  if (remote.status === "refused") throw new PortalError(remote.code);
  return remote.record;
}

/**
 * Whether loading is repeated. Wider than `isTransient`: a script can fail temporarily with any
 * error, so only refusals by the signed record are final.
 */
function isRepeatable(error: unknown): boolean {
  return !isPortalError(error, "remote_refused", "remote_incompatible", "remote_disabled");
}

function loadError(error: unknown): PortalError {
  const known = toPortalError(error);
  if (known.code !== "unknown") return known;
  const crashed = error instanceof Error && error.message.includes("ScriptExecutionError");
  return new PortalError(crashed ? "remote_crashed" : "remote_unreachable", { cause: error });
}
