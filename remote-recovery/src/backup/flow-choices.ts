import { contentKinds } from "@relicario/shared/api";
import { pageStorage } from "@relicario/shared/contract";
import { z } from "zod";

import { newImage } from "./backup-draft.ts";

/**
 * Choices that survive a reload: the kind of secret, and the id of an existing image, which the
 * service knows anyway. Picture, passphrase, name and text stay in memory.
 */
const FlowChoices = z.strictObject({
  kind: z.enum(contentKinds),
  image: z.union([z.literal([newImage, "all"]), z.uuid()]),
});
export type FlowChoices = z.infer<typeof FlowChoices>;

/** Session storage key. */
const storageKey = "backupFlow";

/** Null if the tab has no flow, or its choices are invalid. */
export function loadChoices(): FlowChoices | null {
  try {
    return FlowChoices.safeParse(JSON.parse(pageStorage.session.getItem(storageKey) ?? "null")).data ?? null;
  } catch {
    return null; // an invalid value counts as none
  }
}

export function saveChoices({ kind, image }: { readonly kind: FlowChoices["kind"]; readonly image: string }): void {
  try {
    pageStorage.session.setItem(storageKey, JSON.stringify({ kind, image }));
  } catch {
    // Storage is full or refused: after a reload the flow starts empty.
  }
}

export function clearChoices(): void {
  pageStorage.session.removeItem(storageKey);
}
