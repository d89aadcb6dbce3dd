import { VendorId, type LinkSecret } from "@relicario/shared/contract";
import { z } from "zod";

import { overrideKey } from "../deployment/override.ts";
import { parseLinkAddress, type LinkAddress } from "./link-address.ts";
import { isSignInCallback } from "./sign-in-callback.ts";

export const vendorIdKey = "vendorId";

/** Session storage: path of the link whose key was sent to servers. */
const exposedLinkKey = "exposedLink";

const LinkedId = z.string().regex(/^[\w-]{1,64}$/);

/**
 * Parameters of a link's fragment that are stored in session storage under the same names
 * (specification, section 2). A parameter with an invalid value is dropped.
 *
 * The secret parameters `s` and `n` are not among them: see link-secret.ts.
 */
const StoredParameters = z.object({
  id: LinkedId.optional().catch(undefined),
  recoverId: LinkedId.optional().catch(undefined),
  /** An empty name resets it. */
  [vendorIdKey]: z
    .union([VendorId, z.literal("")])
    .optional()
    .catch(undefined),
  [overrideKey]: z
    .string()
    .max(65_536)
    .regex(/^[\w-]+\.[\w-]+\.[\w-]+$/)
    .optional()
    .catch(undefined),
});

const storedParameterNames = Object.keys(StoredParameters.shape);

/** Session storage keys that links set. */
export const linkStorageKeys: readonly string[] = [...storedParameterNames, exposedLinkKey];

/** Secret and name that another application passes in a link. */
const HandedOver = z.object({ s: z.string().min(1).max(65_536), n: z.string().max(1_024) });

/**
 * The vendor that a link chose, else the deployment's own. A link with an empty name resets the
 * choice.
 */
export function getChosenVendorId(storage: Pick<Storage, "getItem">, defaultVendorId: string): string {
  return VendorId.safeParse(storage.getItem(vendorIdKey)).data ?? defaultVendorId;
}

/** The parts of an address with link parameters. */
export interface LinkFragment {
  /**
   * The address without the link's parameters, which replaces it in this tab. The browser's own
   * history, favicons and session files may keep the former address.
   */
  readonly address: string;
  /**
   * To be encrypted at once. Null when the address has no secret, or one that has no meaning at
   * this path.
   */
  readonly secret: LinkSecret | null;
  /** Items for session storage. */
  readonly items: Readonly<Record<string, string>>;
}

/** Path of a link whose key was sent to servers, while a full storage cannot store the path. */
let heldExposedPath: string | null = null;

/**
 * Stores the items of a link. Logs an item that a full storage refuses; the item is then lost,
 * except the path of an exposed link, which this page keeps in memory.
 *
 * @returns false while that path is only in memory
 */
export function storeItems(
  items: LinkFragment["items"],
  storage: Pick<Storage, "setItem">,
  log: (error: unknown) => void,
): boolean {
  for (const [key, value] of Object.entries(items)) {
    try {
      storage.setItem(key, value);
      if (key === exposedLinkKey) heldExposedPath = null;
    } catch (error) {
      log(error);
      if (key === exposedLinkKey) heldExposedPath = value;
    }
  }
  return heldExposedPath === null;
}

/** Path of the link whose key was sent to servers; null when there is none. */
export function getExposedPath(storage: Pick<Storage, "getItem">): string | null {
  return heldExposedPath ?? storage.getItem(exposedLinkKey);
}

/**
 * Parses the parameters of a link. Null when the address can stay unchanged. Below `shared/`,
 * `p-shared/` and `request/`, `s` is the link key, and `n` and `id` are ignored. At other paths `s`
 * counts only together with `n`.
 */
export function parseFragment(url: URL): LinkFragment | null {
  if (isSignInCallback(url)) return null;
  const link = parseLinkAddress(url);
  const { path, hash } = splitPath(url);
  const params = Object.fromEntries(new URLSearchParams(hash.slice(1)));
  const isKnown = ["s", "n", ...storedParameterNames].some((name) => Object.hasOwn(params, name));
  const address = link?.path ?? `${path}${isKnown ? "" : hash}`;
  if (address === `${url.pathname}${url.search}${url.hash}`) return null;

  const parameters = StoredParameters.parse(params);
  const items = {
    ...parameters,
    id: link === null ? parameters.id : undefined,
    [exposedLinkKey]: link?.isExposed === true ? address : undefined,
  };
  return {
    address,
    secret: link === null ? parseHandedOver(params, path) : toLinkSecret(link),
    items: Object.fromEntries(Object.entries(items).filter((item): item is [string, string] => item[1] !== undefined)),
  };
}

/** Whether this is the page of a link to a share or a request, whose `s` is the link key. */
export function isLinkPath(path: string): boolean {
  return /^\/(shared|p-shared|request)\//i.test(path);
}

/**
 * Finds the fragment also where its `#` was encoded, and so became part of the path. Leading
 * slashes are made one: the router would take two for the start of another origin.
 */
function splitPath({ pathname, search, hash }: URL): { readonly path: string; readonly hash: string } {
  const page = pathname.replace(/^\/{2,}/, "/");
  const [path = "", encodedHash] = page.split(/%(?:25)*23(.*)/is, 2);
  return encodedHash === undefined || hash !== ""
    ? { path: `${page}${search}`, hash }
    : { path, hash: `#${encodedHash}${search}` };
}

function toLinkSecret({ path, key }: LinkAddress): LinkSecret | null {
  return key === null ? null : { path, s: key, n: null };
}

function parseHandedOver(params: Readonly<Record<string, string>>, path: string): LinkSecret | null {
  const handedOver = HandedOver.safeParse(params).data;
  return handedOver === undefined ? null : { path: path.replace(/\?.*$/s, ""), ...handedOver };
}
