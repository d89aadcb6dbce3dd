import type { ContentKind, Portal, ShownImage } from "@relicario/shared/contract";
import { useEffect, useSyncExternalStore } from "react";

/**
 * What is being worked on, by the names of the specification (section 3), in one place, so that the rules of clearing
 * (section 4) are kept in one place too. Memory only: titles, tags and contents in here are plaintext.
 */
export interface EditingState {
  /** The secret that a screen is about; empty when there is none. */
  readonly secretId: string;
  /** Text of the secret that was opened to be edited; empty when none was, or when it is a file. */
  readonly recoveredSecret: string;
  /** The secret being edited, as it was when the editing began. */
  readonly editingSecret: EditingSecret | null;
  /** The recovery image that was shown for this edit: it also opens what another device saved meanwhile. */
  readonly editingKeepic: ShownImage | null;
  /** The content that goes out now, as the file that it is sealed as: a text is `secret.txt`. */
  readonly secretFile: File | null;
  /** The same file when it is too large for one call and goes in parts (`/v2/secrets/…`). */
  readonly secretV2: File | null;
  readonly isTextSecret: boolean;
  /** Tags that the list is narrowed to. */
  readonly categories: readonly string[];
  /** The row that was chosen last: the list comes back to it. */
  readonly selectedSecret: string | null;
}

export interface EditingSecret {
  readonly secretId: string;
  readonly version: number;
  readonly rev: number;
  readonly title: string;
  readonly tags: readonly string[];
  readonly contentKind: ContentKind;
  readonly name: string;
  readonly size: number;
}

const nothing: EditingState = Object.freeze<EditingState>({
  secretId: "",
  recoveredSecret: "",
  editingSecret: null,
  editingKeepic: null,
  secretFile: null,
  secretV2: null,
  isTextSecret: true,
  categories: [],
  selectedSecret: null,
});

/** What a link asked to recover, kept by the host under this name in session storage. */
export const recoverIdKey = "recoverId";

let state = nothing;
const listeners = new Set<() => void>();

export function editingState(): EditingState {
  return state;
}

export function changeEditing(change: Partial<EditingState>): void {
  state = Object.freeze({ ...state, ...change });
  for (const listener of [...listeners]) listener();
}

export function useEditing(): EditingState {
  return useSyncExternalStore(subscribe, editingState);
}

/** Leaving Secrets, Safeguard or Edit secret clears the secret being edited and its recovery image. */
export function clearEdited(): void {
  changeEditing({ secretId: "", editingSecret: null, editingKeepic: null, recoveredSecret: "", secretFile: null, secretV2: null, isTextSecret: true });
}

/** Leaving Secrets clears what was edited; with a `recoverId` it also removes that, and clears the recovered secret. */
export function leaveSecrets(storage: Pick<Storage, "getItem" | "removeItem">): void {
  if (storage.getItem(recoverIdKey) !== null) {
    storage.removeItem(recoverIdKey);
    changeEditing({ recoveredSecret: "" });
  }
  changeEditing({ secretId: "", editingSecret: null, editingKeepic: null });
}

/** Locking and signing out leave nothing. */
export function useForgetEditingOnLock({ onLock }: Pick<Portal, "onLock">): void {
  useEffect(
    () =>
      onLock(() => {
        changeEditing(nothing);
      }),
    [onLock],
  );
}

/** A text becomes the file `secret.txt`; anything else is kept as it is and marks the secret as not text. */
export function contentFile(input: string | File): { readonly secretFile: File; readonly isTextSecret: boolean } {
  if (typeof input === "string") return { secretFile: new File([input], "secret.txt", { type: "text/plain" }), isTextSecret: true };
  return { secretFile: input, isTextSecret: false };
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}
