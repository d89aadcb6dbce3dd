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
 * What every remote promises, as one suite for its own tests: its manifest and its code fit each
 * other, it mounts and unmounts without leaving anything behind, speaks both languages in both
 * themes, is accessible, and survives a vault that is missing and a service that fails.
 *
 * Nothing behind means: after twenty times there is not more than after once, of listeners of
 * whatever is still there, timers, animation frames, observers, workers, channels, addresses of
 * blobs, and elements. Things that are there once, whenever they came, are kept on purpose and no
 * leak.
 *
 * @param manifestJson the remote's `manifest.json`
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
