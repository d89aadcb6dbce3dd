import { useId } from "react";

import type { PictureFieldProps } from "../contract/index.ts";
import { PortalError } from "../errors/index.ts";

/** Chooses a file and takes a passphrase, as the real one does, without judging. */
export function FakePictureField({ value, onChange, disabled = false, error = null }: PictureFieldProps) {
  const id = useId();
  return (
    <fieldset disabled={disabled}>
      <legend>Picture</legend>
      <label htmlFor={`${id}-file`}>Choose a picture</label>
      <input
        id={`${id}-file`}
        type="file"
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0];
          onChange(file === undefined ? null : { picture: file, passphrase: value?.passphrase ?? null });
        }}
      />
      <label htmlFor={`${id}-pass`}>Passphrase</label>
      <input
        id={`${id}-pass`}
        type="password"
        value={value?.passphrase ?? ""}
        onChange={({ currentTarget }) => {
          if (value !== null) onChange({ ...value, passphrase: currentTarget.value === "" ? null : currentTarget.value });
        }}
      />
      {error !== null && <p role="alert">{error}</p>}
    </fieldset>
  );
}

/** jsdom's Blob has no `text()`. */
export function textOf(blob: Blob): Promise<string> {
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
