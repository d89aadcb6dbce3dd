/**
 * Script of the vault's frame, in the release of recovery. The frame's own page has verified this
 * release and calls {@link startVaultController}.
 */
import "./rpc/zod-settings.ts";

import type { Channel } from "@relicario/shared/contract";
import { z } from "zod";

import { serveController, type ServedController } from "./frame/controller.ts";
import { createFrameHttpClients } from "./frame/frame-http.ts";
import { browserWorkers } from "./page/browser-workers.ts";
import { openSignInFrame } from "./sign-in/sign-in-frame.ts";
import { createSignInGate, type IdentityClient } from "./sign-in/sign-in-gate.ts";

declare global {
  var startVaultController: ((settings: VaultControllerSettings) => ServedController) | undefined;
}

export interface VaultControllerSettings {
  /** To the portal's page. */
  readonly channel: Channel;
  readonly portalOrigin: string;
  readonly identity: IdentityClient;
}

globalThis.startVaultController = ({ channel, portalOrigin, identity }) => {
  const { origin } = globalThis.location;
  const signInGate = createSignInGate({
    identity,
    redirectUri: `${origin}/signed-in`,
    openWindow: async (address) => z.string().parse(await channel.call("portal", ["openSignIn"], [address])),
    openFrame: openSignInFrame,
    fetch: globalThis.fetch.bind(globalThis),
  });
  const httpClients = createFrameHttpClients(channel, `${origin}/api`);
  return serveController({ channel, portalOrigin, httpClients, signInGate, workers: browserWorkers });
};
