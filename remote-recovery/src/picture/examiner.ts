import type { Vault } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import type { ExaminePicture } from "@relicario/vault";

export type { ExaminePicture };

/**
 * Judging takes the bytes of a picture, so it is no member of the contract: only the field, which
 * has them, finds it here.
 */
const examiners = new WeakMap<Vault, ExaminePicture>();

export function registerExaminer(vault: Vault, examine: ExaminePicture): void {
  examiners.set(vault, examine);
}

/** @throws PortalError `vault_unavailable` of a vault that this area did not make. */
export function examinerOf(vault: Vault): ExaminePicture {
  const examine = examiners.get(vault);
  if (examine === undefined) throw new PortalError("vault_unavailable");
  return examine;
}
