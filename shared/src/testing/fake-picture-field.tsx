import { useId } from "react";

import type { PictureFieldProps, ShownImage } from "../contract/index.ts";
import { PortalError } from "../errors/index.ts";

export interface PictureShown {
  readonly picture: Blob;
  readonly passphrase: string | null;
}

/** What a handle stands for. */
export type WhatIsShown =
  | PictureShown
  | { readonly kind: "recovery_code"; readonly code: string }
  | { readonly kind: "passkey"; readonly prf: Uint8Array };

/** No plain object: libraries for forms copy those, and a copy stands for nothing. */
class Handle implements ShownImage {
  readonly [Symbol.toStringTag] = "ShownImage";
}

let kept = new WeakMap<ShownImage, WhatIsShown>();

/** A handle as the real field makes it, for calls of the fake vault. */
export function shownImage(picture: Blob, passphrase: string | null = null): ShownImage {
  return show({ picture, passphrase });
}

/** The same for a recovery code or a passkey. */
export function shownKey(key: Exclude<WhatIsShown, PictureShown>): ShownImage {
  return show(key);
}

function show(what: WhatIsShown): ShownImage {
  const handle = Object.freeze(new Handle());
  kept.set(handle, what);
  return handle;
}

/**
 * What the fake field, or {@link shownImage}, made a handle for. @throws PortalError
 * `picture_needed`.
 */
export function whatIsShown(shown: ShownImage): WhatIsShown {
  const found = kept.get(shown);
  if (found === undefined) throw new PortalError("picture_needed");
  return found;
}

export function forgetShown(shown: ShownImage): void {
  kept.delete(shown);
}

/** A lock and a sign-out end every handle. */
export function forgetAllShown(): void {
  kept = new WeakMap();
}

/** Chooses a file and takes a passphrase, as the real one does, without judging. */
export function FakePictureField({ value, onChange, disabled = false, error = null }: PictureFieldProps) {
  const id = useId();
  const given = value === null ? undefined : kept.get(value);
  const shown = given === undefined || "kind" in given ? undefined : given;
  return (
    <fieldset disabled={disabled}>
      <legend>Picture</legend>
      <label htmlFor={`${id}-file`}>Choose a picture</label>
      <input
        id={`${id}-file`}
        type="file"
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0];
          onChange(file === undefined ? null : shownImage(file, shown?.passphrase ?? null));
        }}
      />
      <label htmlFor={`${id}-pass`}>Passphrase</label>
      <input
        id={`${id}-pass`}
        type="password"
        value={shown?.passphrase ?? ""}
        onChange={({ currentTarget }) => {
          if (shown !== undefined)
            onChange(shownImage(shown.picture, currentTarget.value === "" ? null : currentTarget.value));
        }}
      />
      {error !== null && <p role="alert">{error}</p>}
    </fieldset>
  );
}

/** jsdom's Blob has no `text()`, Node no FileReader. */
export function textOf(blob: Blob): Promise<string> {
  if (!("FileReader" in globalThis)) return blob.text();
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => {
      resolve(typeof reader.result === "string" ? reader.result : "");
    };
    reader.onerror = () => {
      reject(new PortalError("picture_unreadable", { cause: reader.error }));
    };
    reader.readAsText(blob);
  });
}
