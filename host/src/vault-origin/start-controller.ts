import { pageStorage, vaultRemote, type Channel, type ReleaseRecord } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { getRolloutBucket } from "../deployment/canary.ts";
import { loadDeployment, type DeploymentDeps } from "../deployment/load.ts";
import type { VerifiedRemote } from "../deployment/verify.ts";
import { originVaultStorage } from "../device/vault-storage.ts";
import type { ControllerAccess, ElementConnection } from "./controller-access.ts";
import { loadReleaseScript } from "./load-release-script.ts";
import { openPortalChannel, type FramedPage } from "./portal-channel.ts";
import { readVaultPage } from "./vault-page.ts";

/** The file of a release that defines `startVaultController`. */
const controllerFile = "vault-controller.js";

interface ServedController {
  readonly connectElement: (port: MessagePort) => void;
}

interface ControllerGlobals {
  startVaultController?: (options: {
    readonly channel: Channel;
    readonly portalOrigin: string;
    readonly identity: { readonly authority: string; readonly clientId: string };
  }) => ServedController;
  relicarioController?: ControllerAccess;
}

export interface ControllerPage extends ControllerGlobals, FramedPage {
  readonly navigator: { readonly locks: DeploymentDeps["locks"] };
  readonly fetch: DeploymentDeps["fetch"];
}

/**
 * Opens the channel to the portal's page, which frames this one, and posts it
 * `{relicario: "vault-ready"}`. Serves there:
 *
 * - `storage`: what the vault stores, for the host to list and wipe (vault-storage.ts).
 * - `frame.loadVault`: verifies the deployment document and the release that brings the vault, and
 *   starts its controller, which serves the rest. Fails as the page's own start does.
 * - `frame.ping`: says that this page is alive.
 *
 * Documents of this origin find it by the global `relicarioController` (controller-access.ts).
 *
 * The URL's fragment may have two parameters. `portal`: the origin that frames this page, one of
 * those that the gateway wrote into it. `bucket`: the bucket of the portal's session, so that both
 * run the same release (canary.ts).
 */
export function startController(
  page: ControllerPage,
  { now, providedPackages }: Pick<DeploymentDeps, "now" | "providedPackages">,
): void {
  const { portal_origins: portalOrigins, ...trustAnchors } = readVaultPage(page.document);
  const { channel, portalOrigin } = openPortalChannel(page, portalOrigins);
  const parameters = new URLSearchParams(page.location.hash.slice(1));

  async function loadVault(): Promise<() => ElementConnection> {
    const { deployment, remotes } = await loadDeployment({
      trustAnchors,
      origin: portalOrigins[0],
      storage: pageStorage.local,
      locks: page.navigator.locks,
      fetch: page.fetch.bind(page),
      now,
      rolloutBucket: parseBucket(parameters.get("bucket")) ?? getRolloutBucket(pageStorage.session),
      override: null, // a developer's release has its screens in one tab, never the vault
      providedPackages,
    });
    if (deployment.vault_origin !== page.location.origin) throw new PortalError("deployment_refused");
    const record = requireRecord(remotes.get(vaultRemote));
    await loadReleaseScript(page, record, controllerFile);
    if (page.startVaultController === undefined) throw new PortalError("remote_incompatible");
    const { authority, client_id: clientId } = deployment.identity;
    const { connectElement } = page.startVaultController({
      channel,
      portalOrigin,
      identity: { authority, clientId },
    });
    const { branding, drives = {} } = deployment;
    return () => {
      const { port1, port2 } = new MessageChannel();
      connectElement(port1);
      return { port: port2, record, branding, drives };
    };
  }

  let loading: ReturnType<typeof loadVault> | null = null;
  const loadOnce = (): ReturnType<typeof loadVault> => {
    loading ??= loadVault().catch((error: unknown) => {
      loading = null; // the next call tries again
      throw error;
    });
    return loading;
  };

  channel.serve("storage", createStorageMembers());
  channel.serve("frame", {
    loadVault: async () => {
      await loadOnce();
    },
    ping: () => null,
  });
  page.relicarioController = Object.freeze<ControllerAccess>({ connect: async () => (await loadOnce())() });
  loadOnce().catch(() => undefined); // the portal hears of it from its call
  page.parent.postMessage({ relicario: "vault-ready" }, portalOrigin);
}

/** Parses what the page passes. */
function createStorageMembers() {
  const byStorageKey = (wipe: (storageKey: string) => Promise<void>) => (storageKey: unknown) =>
    wipe(z.string().parse(storageKey));
  const { read, lockAccount, wipeRows, wipeUploads, wipeRecords, dropDeviceKey, removeOpenedFiles } =
    originVaultStorage;
  return {
    read,
    lockAccount: (storageKey: unknown, now: unknown) => lockAccount(z.string().parse(storageKey), z.int().parse(now)),
    wipeRows: byStorageKey(wipeRows),
    wipeUploads: byStorageKey(wipeUploads),
    wipeRecords: byStorageKey(wipeRecords),
    dropDeviceKey,
    removeOpenedFiles,
  };
}

function parseBucket(text: string | null): number | null {
  const bucket = Number.parseFloat(text ?? "");
  return bucket >= 0 && bucket < 100 ? bucket : null;
}

function requireRecord(remote: VerifiedRemote | undefined): ReleaseRecord {
  if (remote?.status === "verified") return remote.record;
  throw new PortalError(remote?.code ?? "remote_refused");
}
