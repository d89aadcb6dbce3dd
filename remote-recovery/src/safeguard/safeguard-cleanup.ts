import { clearCapturedPicture } from "../picture/captured-picture.ts";
import { clearOpenedSecret } from "../recover/opened-secret.ts";

let mountCount = 0;

/**
 * Says that Safeguard is shown; the undo clears the secret that was worked on and its recovery
 * image once it is left (specification, section 4). What is edited is the secrets' own, and cleared
 * when its screen is left. React mounts a screen twice in development, so the end is looked at a
 * moment later.
 */
export function trackSafeguardMount(): () => void {
  mountCount++;
  return () => {
    mountCount--;
    setTimeout(() => {
      if (mountCount > 0) return;
      clearCapturedPicture();
      clearOpenedSecret();
    });
  };
}
