import {
  createChannel,
  createWindowEndpoint,
  type Channel,
  type Deployment,
  type Drives,
  type Language,
} from "@relicario/shared/contract";
import { PortalError, toPortalError } from "@relicario/shared/errors";
import type { Texts } from "@relicario/shared/i18n";

import { findController, type FramingWindow } from "./controller-access.ts";
import { loadReleaseScript } from "./load-release-script.ts";
import { openPortalChannel, type FramedPage } from "./portal-channel.ts";
import { readVaultPage } from "./vault-page.ts";

/** The file of a release that defines `startVaultElement`. */
const elementFile = "vault-element.js";

export interface WindowOptions {
  /** To the portal's page; of a window, to the element that opened it. */
  readonly page: Channel;
  readonly port: MessagePort;
  readonly branding: Deployment["branding"];
  readonly drives: Drives;
  /** The host's namespaces `common` and `errors`. */
  readonly texts: Readonly<Record<Language, Readonly<Record<string, Texts>>>>;
}

export interface ElementOptions extends WindowOptions {
  /** Of the portal's page. */
  readonly portalOrigin: string;
}

export interface ElementDocument extends FramedPage {
  readonly parent: FramedPage["parent"] & FramingWindow;
  /** Of a window, the element that opened it. */
  readonly opener: (FramedPage["parent"] & { readonly parent: FramingWindow }) | null;
  startVaultElement?: (options: ElementOptions) => void;
  startVaultWindow?: (options: WindowOptions) => void;
}

/**
 * Starts an element, a visible frame of the vault's origin, with the code of the release that the
 * controller has verified. Reports a failure to the portal's page, which shows it with a retry.
 * Starts a window that an element opened in the same way.
 */
export async function startElement(page: ElementDocument, texts: WindowOptions["texts"]): Promise<void> {
  const { portal_origins: portalOrigins } = readVaultPage(page.document);
  const { opener } = page;
  const isWindow = opener !== null && Object.is(page.parent, page);
  const { channel, portalOrigin } = isWindow
    ? { channel: createChannel(createWindowEndpoint(page, () => opener, page.location.origin)), portalOrigin: null }
    : openPortalChannel(page, portalOrigins);
  try {
    const access = findController(isWindow ? opener.parent : page.parent);
    if (access === null) throw new PortalError("vault_unavailable");
    const { port, record, branding, drives } = await access.connect();
    await loadReleaseScript(page, record, elementFile);
    const options = { page: channel, port, branding, drives, texts };
    const { startVaultElement, startVaultWindow } = page;
    if (startVaultElement === undefined || startVaultWindow === undefined) throw new PortalError("remote_incompatible");
    if (portalOrigin === null) startVaultWindow(options);
    else startVaultElement({ ...options, portalOrigin });
  } catch (error) {
    await channel.call("elementPage", ["fail"], [toPortalError(error).code]);
  }
}
