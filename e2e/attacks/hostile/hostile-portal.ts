import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { test as base } from "@playwright/test";
import { startPortal, type RunningPortal } from "@relicario/tooling/portal";

import { loopbackNames } from "../../support/loopback-names.ts";
import { releaseHostileRemote } from "./campaign.ts";

/**
 * A portal for each worker, with a hostile sharing remote and the names of a deployment, because
 * passkeys of `localhost` belong to all of its ports.
 */
export const test = base.extend<object, { readonly portal: RunningPortal }>({
  portal: [
    async ({}, use) => {
      const dataDir = await mkdtemp(path.join(tmpdir(), "relicario-attacks-"));
      const portal = await startPortal({ port: 0, dataDir, hostName: "portal.localhost", environment: loopbackNames });
      await releaseHostileRemote(portal);
      await use(portal);
      await portal.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
    { scope: "worker", timeout: 240_000 },
  ],
});

export { expect } from "@playwright/test";
