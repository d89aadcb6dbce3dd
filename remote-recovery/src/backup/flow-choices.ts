import { z } from "zod";

import { newImage } from "./backup-draft.ts";

/**
 * What a reload of the page may keep of the flow: which kind of secret, and which image in use by
 * its id, which the service has as well. No picture, passphrase, name or text: they are in memory
 * alone.
 */
const FlowChoices = z.strictObject({
  kind: z.enum(["text", "seed", "file"]),
  image: z.union([z.literal([newImage, "all"]), z.uuid()]),
});
export type KeptChoices = z.infer<typeof FlowChoices>;

/** In session storage: of this tab. */
const storageKey = "backupFlow";

/** Null when nothing was under way in this tab, or it cannot be read. */
export function loadChoices(): KeptChoices | null {
  try {
    return FlowChoices.safeParse(JSON.parse(sessionStorage.getItem(storageKey) ?? "null")).data ?? null;
  } catch {
    return null; // not written by us: the flow begins anew
  }
}

export function saveChoices({ kind, image }: { readonly kind: KeptChoices["kind"]; readonly image: string }): void {
  try {
    sessionStorage.setItem(storageKey, JSON.stringify({ kind, image }));
  } catch {
    // Storage is full or refused: after a reload the flow begins anew.
  }
}

export function clearChoices(): void {
  sessionStorage.removeItem(storageKey);
}
