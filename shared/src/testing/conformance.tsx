import { RemoteManifest, type RemoteModule } from "../contract/index.ts";
import {
  listAddresses,
  createBriefExtent,
  createManifestChecks,
  createScreenChecks,
  wholeExtent,
  type Check,
  type ConformanceSettings,
} from "./conformance-checks.tsx";

const timeLimitMs = 120_000;

/**
 * Checks that every remote runs in its own tests. Manifest, code and texts must match. Each screen
 * must be accessible in both languages and themes, survive a missing vault and a failing service,
 * and release its resources on unmount.
 *
 * The number of resources of each kind may grow by at most one between the first and the twentieth
 * mount, because libraries keep some resources after their first use. Counted are elements, timers,
 * animation frames, observers, workers, channels, object URLs, and listeners of targets that
 * outlive the screen.
 *
 * @param manifestJson content of the remote's `manifest.json`
 */
export function conformance(manifestJson: unknown, remote: RemoteModule, settings: ConformanceSettings = {}): void {
  const manifest = RemoteManifest.parse(manifestJson);
  const runCheck = ({ name, run }: Check) => {
    it(name, async () => run(), timeLimitMs);
  };

  describe(`${manifest.name} conforms to the contract`, () => {
    for (const check of createManifestChecks(manifest, remote, settings)) runCheck(check);
    for (const [index, path] of listAddresses(manifest, settings).entries()) {
      describe(`at ${path}`, () => {
        for (const check of createScreenChecks(
          path,
          remote,
          settings,
          settings.extent === "brief" ? createBriefExtent(index) : wholeExtent,
        ))
          runCheck(check);
      });
    }
  });
}
