import { PortalError } from "@relicario/shared/errors";

import { isPresentedKey, type PresentedOpener, type PresentedPicture } from "../rpc/presented-opener.ts";

/** A new passphrase for the picture that is presented in the same call. */
export interface NewPassphrase {
  readonly kind: "new_passphrase";
  readonly passphrase: string | null;
}

/** What an element took. */
export interface HeldInput {
  /** Null while the input is incomplete. */
  readonly opener: PresentedOpener | NewPassphrase | null;
  /** The element's own state, to continue in another frame. */
  readonly draft: unknown;
}

/** Input of elements, by an id that the page has. A lock releases all. */
export interface HeldOpeners {
  /** Replaces what is held under `id`. Returns the id, by default a new one. */
  readonly hold: (input: HeldInput, id?: string) => string;
  readonly getDraft: (id: string) => unknown;
  /**
   * Returns the openers of a call's handles.
   * @throws PortalError `picture_needed` for an id that was released or is incomplete
   */
  readonly requireAll: <Handle>(
    handles: readonly (readonly [Handle, string])[],
  ) => readonly (readonly [Handle, PresentedOpener])[];
  readonly release: (id: string) => void;
  readonly releaseAll: () => void;
}

/** @param onReleaseAll called for elements, which then clear their fields */
export function createHeldOpeners(onReleaseAll: () => void): HeldOpeners {
  const inputs = new Map<string, HeldInput>();

  function require(id: string): PresentedOpener | NewPassphrase {
    const opener = inputs.get(id)?.opener ?? null;
    if (opener === null) throw new PortalError("picture_needed");
    return opener;
  }

  return {
    hold: (input, id = crypto.randomUUID()) => {
      inputs.set(id, input);
      return id;
    },
    getDraft: (id) => inputs.get(id)?.draft ?? null,
    requireAll: (handles) => {
      const openers = handles.map(([handle, id]) => [handle, require(id)] as const);
      const presentedPicture = openers.map(([, opener]) => opener).find(isPresentedPicture);
      return openers.map(([handle, opener]) => {
        if (!isNewPassphrase(opener)) return [handle, opener] as const;
        if (presentedPicture === undefined) throw new PortalError("picture_needed");
        return [handle, { picture: presentedPicture.picture, passphrase: opener.passphrase }] as const;
      });
    },
    release: (id) => {
      inputs.delete(id);
    },
    releaseAll: () => {
      inputs.clear();
      onReleaseAll();
    },
  };
}

function isNewPassphrase(opener: PresentedOpener | NewPassphrase): opener is NewPassphrase {
  return "kind" in opener && opener.kind === "new_passphrase";
}

function isPresentedPicture(opener: PresentedOpener | NewPassphrase): opener is PresentedPicture {
  return !isNewPassphrase(opener) && !isPresentedKey(opener);
}
