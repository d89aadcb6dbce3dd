import { deriveMark, type NotedMark } from "../seal/mark.ts";
import type { VaultSession } from "../session/vault-session.ts";

/**
 * Reads the mark, even while locked on an own device. Null on other devices until an opener is
 * presented.
 */
export async function readMark(vault: VaultSession): Promise<NotedMark | null> {
  const { mark } = await vault.device.read();
  if (mark !== null) return mark;
  return vault.accountKey === null ? null : { ...deriveMark(vault.accountKey), note: vault.markNote };
}

/** Ends the note, which the person has read. */
export async function acknowledgeMark(vault: VaultSession): Promise<void> {
  vault.acknowledgeMark();
  await vault.device.update(({ mark }) => (mark?.note == null ? null : { mark: { ...mark, note: null } }));
}
