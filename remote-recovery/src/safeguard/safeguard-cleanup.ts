import { clearSavedCapture } from "../elements/saved-capture.ts";
import { clearOpenedSecret } from "../recover/opened-secret.ts";

let mountCount = 0;

/**
 * Counts a mounted Safeguard. The returned function clears the opened secret and the saved
 * capture when no Safeguard is left (specification, section 4). It checks in a later task, because
 * React mounts twice in development. The secrets remote clears its own edit state.
 */
export function trackSafeguardMount(): () => void {
  mountCount++;
  return () => {
    mountCount--;
    setTimeout(() => {
      if (mountCount > 0) return;
      clearSavedCapture();
      clearOpenedSecret();
    });
  };
}
