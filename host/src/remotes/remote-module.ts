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

export interface LazyRoute {
  readonly path: string;
  readonly load: LoadPage;
}

/** A remote's validated default export, with the name in the remote's manifest. */
export interface ParsedModule extends Omit<RemoteModule, "routes"> {
  readonly name: RemoteName;
  /** In the manifest's order. */
  readonly routes: readonly LazyRoute[];
}

/** Schema that accepts any function, because parameters and results cannot be checked here. */
function functionSchema<T>(): z.ZodType<T> {
  return z.custom<T>((value) => typeof value === "function", "not a function");
}

const ModuleShape = z.strictObject({
  routes: z.record(z.string(), functionSchema<LoadPage>()),
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
    .object({ vault: functionSchema<VaultFactory>().optional(), visitor: functionSchema<VisitorFactory>().optional() })
    .optional(),
});

/**
 * Validates a remote's default export before any of it is used. Its routes must be exactly those of
 * the signed manifest.
 * @throws PortalError `remote_refused`
 */
export function parseModule(module: unknown, manifest: RemoteManifest): ParsedModule {
  const parsed = ModuleShape.safeParse(module);
  if (!parsed.success) throw new PortalError("remote_refused", { cause: parsed.error });
  const { routes: loaders, tours, provides } = parsed.data;
  const routes = manifest.routes.flatMap(({ path }) => {
    const load = Object.hasOwn(loaders, path) ? loaders[path] : undefined;
    return load === undefined ? [] : [{ path, load }];
  });
  if (routes.length !== manifest.routes.length || routes.length !== Object.keys(loaders).length)
    throw new PortalError("remote_refused");
  return Object.freeze<ParsedModule>({
    name: manifest.name,
    routes,
    ...(tours === undefined ? {} : { tours }),
    ...(provides === undefined ? {} : { provides: omitUndefinedServices(provides) }),
  });
}

function omitUndefinedServices({
  vault,
  visitor,
}: NonNullable<z.infer<typeof ModuleShape>["provides"]>): RemoteServices {
  return { ...(vault === undefined ? {} : { vault }), ...(visitor === undefined ? {} : { visitor }) };
}
