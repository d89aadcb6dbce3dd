import { useId } from "react";

import type { PictureFieldProps, OpenerHandle } from "../contract/index.ts";
import { PortalError } from "../errors/index.ts";

export interface PresentedPicture {
  readonly picture: Blob;
  readonly passphrase: string | null;
}

/** What a handle stands for. */
export type PresentedOpener =
  | PresentedPicture
  | { readonly kind: "recovery_code"; readonly code: string }
  | { readonly kind: "passkey"; readonly prf: Uint8Array };

/** No plain object: libraries for forms copy those, and a copy stands for nothing. */
class FakeOpenerHandle implements OpenerHandle {
  readonly [Symbol.toStringTag] = "OpenerHandle";
}

let presentedByHandle = new WeakMap<OpenerHandle, PresentedOpener>();

/** A handle as the real field makes it, for calls of the fake vault. */
export function createOpenerHandle(picture: Blob, passphrase: string | null = null): OpenerHandle {
  return createHandle({ picture, passphrase });
}

/** The same for a recovery code or a passkey. */
export function createKeyHandle(key: Exclude<PresentedOpener, PresentedPicture>): OpenerHandle {
  return createHandle(key);
}

function createHandle(presented: PresentedOpener): OpenerHandle {
  const handle = Object.freeze(new FakeOpenerHandle());
  presentedByHandle.set(handle, presented);
  return handle;
}

/**
 * What the fake field, or {@link createOpenerHandle}, made a handle for. @throws PortalError
 * `picture_needed`.
 */
export function resolveHandle(handle: OpenerHandle): PresentedOpener {
  const presented = presentedByHandle.get(handle);
  if (presented === undefined) throw new PortalError("picture_needed");
  return presented;
}

export function releaseOpener(handle: OpenerHandle): void {
  presentedByHandle.delete(handle);
}

/** A lock and a sign-out end every handle. */
export function releaseAllOpeners(): void {
  presentedByHandle = new WeakMap();
}

/** Chooses a file and takes a passphrase, as the real one does, without judging. */
export function FakePictureField({ value, onChange, disabled = false, error = null }: PictureFieldProps) {
  const id = useId();
  const presented = value === null ? undefined : presentedByHandle.get(value);
  const presentedPicture = presented === undefined || "kind" in presented ? undefined : presented;
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

/** jsdom's Blob has no `text()`, Node no FileReader. */
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
