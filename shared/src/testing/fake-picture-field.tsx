import { useId } from "react";

import type { PictureFieldProps, OpenerHandle } from "../contract/index.ts";
import { PortalError } from "../errors/index.ts";

export interface PresentedPicture {
  readonly picture: Blob;
  readonly passphrase: string | null;
}

/** The opener that a handle stands for. */
export type PresentedOpener =
  | PresentedPicture
  | { readonly kind: "recovery_code"; readonly code: string }
  | { readonly kind: "passkey"; readonly prf: Uint8Array };

/** A class, because form libraries copy plain objects, and a copied handle is not valid. */
class FakeOpenerHandle implements OpenerHandle {
  readonly [Symbol.toStringTag] = "OpenerHandle";
}

let presentedByHandle = new WeakMap<OpenerHandle, PresentedOpener>();

/** Creates a handle of a picture, as the real field does, for calls of the fake vault. */
export function createOpenerHandle(picture: Blob, passphrase: string | null = null): OpenerHandle {
  return createHandle({ picture, passphrase });
}

/** Creates a handle of a recovery code or a passkey. */
export function createKeyHandle(key: Exclude<PresentedOpener, PresentedPicture>): OpenerHandle {
  return createHandle(key);
}

function createHandle(presentedOpener: PresentedOpener): OpenerHandle {
  const handle = Object.freeze(new FakeOpenerHandle());
  presentedByHandle.set(handle, presentedOpener);
  return handle;
}

/**
 * Returns the opener of a handle that the fake field or {@link createOpenerHandle} created.
 *
 * @throws PortalError `picture_needed`
 */
export function resolveHandle(handle: OpenerHandle): PresentedOpener {
  const presentedOpener = presentedByHandle.get(handle);
  if (presentedOpener === undefined) throw new PortalError("picture_needed");
  return presentedOpener;
}

export function releaseOpener(handle: OpenerHandle): void {
  presentedByHandle.delete(handle);
}

/** Releases every handle, as a lock and a sign-out do. */
export function releaseAllOpeners(): void {
  presentedByHandle = new WeakMap();
}

/** Takes a file and a passphrase, like the real field, but does not test the picture. */
export function FakePictureField({ value, onChange, disabled = false, error = null }: PictureFieldProps) {
  const id = useId();
  const presentedOpener = value === null ? undefined : presentedByHandle.get(value);
  const presentedPicture = presentedOpener === undefined || "kind" in presentedOpener ? undefined : presentedOpener;
  return (
    <fieldset disabled={disabled}>
      <legend>Picture</legend>
      <label htmlFor={`${id}-file`}>Choose a picture</label>
      <input
        id={`${id}-file`}
        type="file"
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0];
          onChange(file === undefined ? null : createOpenerHandle(file, presentedPicture?.passphrase ?? null));
        }}
      />
      <label htmlFor={`${id}-pass`}>Passphrase</label>
      <input
        id={`${id}-pass`}
        type="password"
        value={presentedPicture?.passphrase ?? ""}
        onChange={({ currentTarget }) => {
          if (presentedPicture !== undefined)
            onChange(
              createOpenerHandle(presentedPicture.picture, currentTarget.value === "" ? null : currentTarget.value),
            );
        }}
      />
      {error !== null && <p role="alert">{error}</p>}
    </fieldset>
  );
}

/** Reads a blob as text. jsdom's Blob has no `text()`, and Node has no FileReader. */
export function readBlobText(blob: Blob): Promise<string> {
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
