import {
  createChannel,
  createWindowEndpoint,
  type Channel,
  type MessageTarget,
  type VaultPage,
} from "@relicario/shared/contract";

/** A document of the vault's origin, which the portal's page frames. */
export interface FramedPage extends MessageTarget {
  readonly document: Document;
  readonly location: Pick<Location, "hash" | "origin">;
  readonly parent: Pick<Window, "postMessage">;
}

/**
 * Opens the channel to the page that frames this document. The fragment's parameter `portal` is the
 * origin of that page, one of those that the gateway wrote into this document.
 */
export function openPortalChannel(
  page: FramedPage,
  portalOrigins: VaultPage["portal_origins"],
): { readonly channel: Channel; readonly portalOrigin: string } {
  const requestedOrigin = new URLSearchParams(page.location.hash.slice(1)).get("portal");
  const portalOrigin = portalOrigins.find((origin) => origin === requestedOrigin) ?? portalOrigins[0];
  const channel = createChannel(createWindowEndpoint(page, () => page.parent, portalOrigin));
  return { channel, portalOrigin };
}
