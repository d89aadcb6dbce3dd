import { z } from "zod";

import { newImage } from "./backup-draft.ts";

/**
 * What a reload of the page may keep of the flow: which kind of secret, and which image in use by
 * its id, which the service has as well. No picture, passphrase, name or text: they are in memory
 * alone.
 */
const KeptChoices = z.strictObject({
  kind: z.enum(["text", "seed", "file"]),
  image: z.union([z.literal([newImage, "all"]), z.uuid()]),
});
export type KeptChoices = z.infer<typeof KeptChoices>;

/** In session storage: of this tab. */
const name = "backupFlow";

/** Null when nothing was under way in this tab, or it cannot be read. */
export function readChoices(): KeptChoices | null {
  try {
    return KeptChoices.safeParse(JSON.parse(sessionStorage.getItem(name) ?? "null")).data ?? null;
  } catch {
    return null; // not written by us: the flow begins anew
  }
}

export function keepChoices({ kind, image }: { readonly kind: KeptChoices["kind"]; readonly image: string }): void {
  try {
    sessionStorage.setItem(name, JSON.stringify({ kind, image }));
  } catch {
    // Storage is full or refused: after a reload the flow begins anew.
  }
}

export function forgetChoices(): void {
  sessionStorage.removeItem(name);
}
