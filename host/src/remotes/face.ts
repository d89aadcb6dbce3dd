import { capabilities, CONTRACT_VERSION, type ReleaseRecord, type RemoteModule } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { caretRangeHolds } from "../deployment/ranges.ts";

/** A value that is a function; what it takes and gives is the contract's word. */
function callable<T>(): z.ZodType<T> {
  return z.custom<T>((value) => typeof value === "function", "not a function");
}

const Face = z.object({
  name: z.string(),
  contract: z.string(),
  routes: z.array(z.object({ path: z.string().startsWith("/"), load: callable<RemoteModule["routes"][number]["load"]>() })),
  navigation: z.array(z.object({ path: z.string().startsWith("/"), titleKey: z.string() })).optional(),
  namespaces: z.array(z.string()),
  tours: z
    .array(z.object({ name: z.string(), path: z.string(), titleKey: z.string().optional(), steps: z.array(z.object({ target: z.string(), titleKey: z.string(), bodyKey: z.string() })) }))
    .optional(),
  capabilities: z.array(z.enum(capabilities)).optional(),
  provides: z.object({ vault: callable<NonNullable<NonNullable<RemoteModule["provides"]>["vault"]>>().optional() }).optional(),
});

/**
 * What a remote's code says of itself, checked before any of it is used: it is the remote that was asked for, its contract
 * holds ours, and its namespaces are among those that its release carries. `remote_refused`, `remote_incompatible`.
 */
export function parseFace(face: unknown, record: ReleaseRecord): RemoteModule {
  const parsed = Face.safeParse(face);
  if (!parsed.success) throw new PortalError("remote_refused", { cause: parsed.error });
  const { data } = parsed;
  if (data.name !== record.remote || !data.namespaces.every((namespace) => record.namespaces.includes(namespace))) throw new PortalError("remote_refused");
  if (!caretRangeHolds(data.contract, CONTRACT_VERSION)) throw new PortalError("remote_incompatible");
  const { navigation, tours, capabilities: asked, provides } = data;
  return Object.freeze<RemoteModule>({
    name: record.remote,
    contract: data.contract,
    routes: data.routes,
    namespaces: data.namespaces,
    ...(navigation === undefined ? {} : { navigation }),
    ...(tours === undefined ? {} : { tours }),
    ...(asked === undefined ? {} : { capabilities: asked }),
    ...(provides === undefined ? {} : { provides: provides.vault === undefined ? {} : { vault: provides.vault } }),
  });
}
