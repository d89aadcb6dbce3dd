import type {
  LoadPage,
  RemoteManifest,
  RemoteModule,
  RemoteName,
  RemoteServices,
  VaultFactory,
  VisitorFactory,
} from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

/** A route of a remote with the function that loads its page. */
export interface LazyRoute {
  readonly path: string;
  readonly load: LoadPage;
}

/**
 * The default export of a remote after parsing, with the name and the route order of its signed
 * manifest.
 */
export interface LoadedModule extends Omit<RemoteModule, "routes"> {
  readonly name: RemoteName;
  /** In the order of the manifest. */
  readonly routes: readonly LazyRoute[];
}

/** Accepts any function; its parameters and result cannot be checked here. */
function callable<T>(): z.ZodType<T> {
  return z.custom<T>((value) => typeof value === "function", "not a function");
}

const ModuleShape = z.strictObject({
  routes: z.record(z.string(), callable<LoadPage>()),
  tours: z
    .array(
      z.object({
        name: z.string(),
        path: z.string(),
        titleKey: z.string().optional(),
        steps: z.array(z.object({ target: z.string(), titleKey: z.string(), bodyKey: z.string() })),
      }),
    )
    .optional(),
  provides: z
    .object({ vault: callable<VaultFactory>().optional(), visitor: callable<VisitorFactory>().optional() })
    .optional(),
});

/**
 * The default export of a remote, checked before any of it is used: each route of its signed
 * manifest has code, and no code is without a route. `remote_refused`.
 */
export function parseModule(module: unknown, manifest: RemoteManifest): LoadedModule {
  const parsed = ModuleShape.safeParse(module);
  if (!parsed.success) throw new PortalError("remote_refused", { cause: parsed.error });
  const { routes: loaders, tours, provides } = parsed.data;
  const routes = manifest.routes.flatMap(({ path }) => {
    const load = Object.hasOwn(loaders, path) ? loaders[path] : undefined;
    return load === undefined ? [] : [{ path, load }];
  });
  if (routes.length !== manifest.routes.length || routes.length !== Object.keys(loaders).length)
    throw new PortalError("remote_refused");
  return Object.freeze<LoadedModule>({
    name: manifest.name,
    routes,
    ...(tours === undefined ? {} : { tours }),
    ...(provides === undefined ? {} : { provides: toServices(provides) }),
  });
}

function toServices({ vault, visitor }: NonNullable<z.infer<typeof ModuleShape>["provides"]>): RemoteServices {
  return { ...(vault === undefined ? {} : { vault }), ...(visitor === undefined ? {} : { visitor }) };
}
