import type { LoadPage, RemoteName } from "@relicario/shared/contract";
import { isPortalError, PortalError, toPortalError } from "@relicario/shared/errors";
import type { ComponentType } from "react";

import type { VerifiedDeployment, VerifiedRemote } from "../deployment/verify.ts";
import { parseFace, type FaceRoute, type RemoteFace } from "./face.ts";
import { loadWithRetry } from "./load-with-retry.ts";

export interface LoaderParts {
  readonly remotes: VerifiedDeployment["remotes"];
  /** Its release was switched off while this page was open: nothing more of it is loaded or given out. */
  readonly isDisabled: (name: RemoteName) => boolean;
  /** Runs a remote's entry; federation.ts. */
  readonly loadFace: (name: RemoteName) => Promise<unknown>;
  /** Fetches the texts of the namespaces that a remote owns. */
  readonly loadTexts: (namespaces: readonly string[]) => Promise<void>;
  readonly onFailure: (name: RemoteName, error: PortalError) => void;
}

/** Loads remotes and their pages. What was loaded is kept; a failure is forgotten, so that asking again loads anew. */
export interface RemoteLoader {
  /** `remote_refused`, `remote_incompatible`, `remote_disabled`, `remote_unreachable`, `remote_timed_out`, `remote_crashed`. */
  readonly load: (name: RemoteName) => Promise<RemoteFace>;
  /** The page of a route; the same promise until it fails, also for another route of the same code. */
  readonly page: (name: RemoteName, route: FaceRoute) => Promise<ComponentType>;
  /** Loads a remote and the page at this pattern of its manifest ahead of need: nothing is said when it fails. */
  readonly prefetch: (name: RemoteName, path: string) => void;
}

export function createRemoteLoader({ remotes, isDisabled, loadFace, loadTexts, onFailure }: LoaderParts): RemoteLoader {
  const modules = new Map<RemoteName, Promise<RemoteFace>>();
  const pages = new Map<LoadPage, Promise<ComponentType>>();

  const loadOnce = async (name: RemoteName): Promise<RemoteFace> => {
    const { manifest } = recordOf(remotes.get(name));
    const texts = loadTexts(manifest.namespaces); // has its own retries
    texts.catch(() => undefined); // told where it is waited for
    const known = parseFace(await loadWithRetry(() => loadFace(name), loadError, isRepeatable), manifest);
    await texts;
    return known;
  };

  const load = (name: RemoteName): Promise<RemoteFace> =>
    isDisabled(name) ? Promise.reject(new PortalError("remote_disabled")) : remembered(modules, name, () => loadOnce(name).catch(failed(name)));

  const page = (name: RemoteName, route: FaceRoute): Promise<ComponentType> =>
    remembered(pages, route.load, () => loadWithRetry(() => route.load(), loadError, isRepeatable).then(({ default: component }) => component, failed(name)));

  const failed = (name: RemoteName) => (error: unknown) => {
    const known = loadError(error);
    onFailure(name, known);
    throw known;
  };

  return Object.freeze<RemoteLoader>({
    load,
    page,
    prefetch: (name, path) => {
      load(name)
        .then(({ routes }) => {
          const route = routes.find((each) => each.path === path);
          return route === undefined ? null : page(name, route);
        })
        .catch(() => undefined); // whoever goes there meets the failure, and a way to try again
    },
  });
}

function remembered<K, T>(memory: Map<K, Promise<T>>, key: K, make: () => Promise<T>): Promise<T> {
  const known = memory.get(key);
  if (known !== undefined) return known;
  const made = make();
  memory.set(key, made);
  made.catch(() => {
    if (memory.get(key) === made) memory.delete(key);
  });
  return made;
}

function recordOf(remote: VerifiedRemote | undefined) {
  if (remote === undefined) throw new PortalError("remote_refused");
  if (remote.status === "refused") throw new PortalError(remote.code);
  return remote.record;
}

/**
 * Whether loading is tried again. More than `isTransient` says: a script may fail for a moment in any way, so only what the
 * signed record decided is final.
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
