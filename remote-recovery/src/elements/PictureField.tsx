import type { PictureFieldProps, Vault } from "@relicario/shared/contract";
import { FieldError } from "@relicario/shared/forms";
import { Stack } from "@relicario/shared/ui";
import { createHandle, getHeldId } from "@relicario/vault";
import { useState, type ComponentType } from "react";

import type { VaultElementProps } from "./VaultElement.tsx";

/**
 * Creates the contract's picture field. The picture is chosen in an element of the vault's origin;
 * the form gets an opener handle.
 *
 * @param purpose overrides that of the form: visitors only present the picture of a share
 */
export function createPictureField(
  VaultElement: ComponentType<VaultElementProps>,
  releaseOpener: Vault["releaseOpener"],
  purpose?: PictureFieldProps["purpose"],
): ComponentType<PictureFieldProps> {
  return function PictureField(props) {
    const { pictureOnly = false, value, onChange, onRecognise, disabled = false, error = null } = props;
    const [heldId] = useState(() => (value === null ? null : getHeldId(value)));
    return (
      <Stack $gap={3}>
        <VaultElement
          field={{
            kind: "picture",
            purpose: purpose ?? props.purpose,
            pictureOnly,
            keepsDraft: false,
            search: null,
          }}
          heldId={heldId}
          disabled={disabled}
          onChange={(state) => {
            const next = state.ready && state.heldId !== null ? createHandle(state.heldId) : null;
            if (value !== null && value !== next) releaseOpener(value);
            onChange(next);
            onRecognise?.(state.known);
          }}
        />
        {error !== null && error !== "" && <FieldError>{error}</FieldError>}
      </Stack>
    );
  };
}
