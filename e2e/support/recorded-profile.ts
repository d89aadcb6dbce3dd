import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { chromium, type BrowserContext } from "@playwright/test";

import { createStoryLaunchOptions } from "./browser.ts";
import type { RecordingProxy } from "./recording-proxy.ts";
import { actOnceStarted } from "./starting-elements.ts";

export interface RecordedProfile {
  readonly context: BrowserContext;
  readonly close: () => Promise<void>;
}

/**
 * Opens a browser with its own profile folder, all of whose requests go through the recorder. Adds
 * foreign hosts that pages request to `foreignHosts`.
 */
export async function openRecordedProfile(
  proxy: RecordingProxy,
  baseURL: string,
  foreignHosts: Set<string>,
  extraArguments: readonly string[] = [],
): Promise<RecordedProfile> {
  const folder = await mkdtemp(path.join(tmpdir(), "relicario-profile-"));
  const launchOptions = createStoryLaunchOptions();
  const context = await chromium.launchPersistentContext(folder, {
    ...launchOptions,
    args: [...(launchOptions.args ?? []), ...extraArguments],
    baseURL,
    locale: "en-GB",
    viewport: { width: 1280, height: 900 },
    proxy: { server: proxy.address },
    acceptDownloads: true,
  });
  actOnceStarted(context);
  context.setDefaultTimeout(60_000);
  context.on("request", (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (protocol.startsWith("http") && hostname !== "localhost") foreignHosts.add(hostname);
  });
  return {
    context,
    close: async () => {
      await context.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
