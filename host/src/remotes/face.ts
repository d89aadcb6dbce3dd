import type { LoadPage, RemoteManifest, RemoteModule, RemoteName } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

/** One screen of a remote with its code, which is loaded when somebody goes there. */
export interface FaceRoute {
  readonly path: string;
  readonly load: LoadPage;
}

/** What the host knows of a remote whose code has run: its signed word, and the code that belongs to it. */
export interface RemoteFace extends Omit<RemoteModule, "routes"> {
  readonly name: RemoteName;
  /** In the order of the manifest. */
  readonly routes: readonly FaceRoute[];
}

/** A value that is a function; what it takes and gives is the contract's word. */
function callable<T>(): z.ZodType<T> {
  return z.custom<T>((value) => typeof value === "function", "not a function");
}

const Code = z.strictObject({
  routes: z.record(z.string(), callable<LoadPage>()),
  tours: z
    .array(z.object({ name: z.string(), path: z.string(), titleKey: z.string().optional(), steps: z.array(z.object({ target: z.string(), titleKey: z.string(), bodyKey: z.string() })) }))
    .optional(),
  provides: z.object({ vault: callable<NonNullable<NonNullable<RemoteModule["provides"]>["vault"]>>().optional() }).optional(),
});

/**
 * The default export of a remote, checked before any of it is used: each route of its signed manifest has code, and no code
 * is without a route. `remote_refused`.
 */
export function parseFace(code: unknown, manifest: RemoteManifest): RemoteFace {
  const parsed = Code.safeParse(code);
  if (!parsed.success) throw new PortalError("remote_refused", { cause: parsed.error });
  const { routes: loads, tours, provides } = parsed.data;
  const routes = manifest.routes.flatMap(({ path }) => {
    const load = Object.hasOwn(loads, path) ? loads[path] : undefined;
    return load === undefined ? [] : [{ path, load }];
  });
  if (routes.length !== manifest.routes.length || routes.length !== Object.keys(loads).length) throw new PortalError("remote_refused");
  return Object.freeze<RemoteFace>({
    name: manifest.name,
    routes,
    ...(tours === undefined ? {} : { tours }),
    ...(provides === undefined ? {} : { provides: provides.vault === undefined ? {} : { vault: provides.vault } }),
  });
}
