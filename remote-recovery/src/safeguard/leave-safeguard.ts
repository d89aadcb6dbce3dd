import { forgetTaken } from "../picture/taken-picture.ts";
import { dropOpened } from "../recover/opened-secret.ts";

let shown = 0;

/**
 * Says that Safeguard is shown; the undo clears the secret that was worked on and its recovery
 * image once it is left (specification, section 4). What is edited is the secrets' own, and cleared
 * when its screen is left. React mounts a screen twice in development, so the end is looked at a
 * moment later.
 */
export function showSafeguard(): () => void {
  shown++;
  return () => {
    shown--;
    setTimeout(() => {
      if (shown > 0) return;
      forgetTaken();
      dropOpened();
    });
  };
}
