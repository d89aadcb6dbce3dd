import type { StrengthLevel } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

/** @throws PortalError `passphrase_too_weak` */
export function requireStrength(strength: StrengthLevel, least: StrengthLevel): void {
  if (strength < least) throw new PortalError("passphrase_too_weak", { details: { least } });
}
