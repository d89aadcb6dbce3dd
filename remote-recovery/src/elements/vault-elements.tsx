import type { Vault } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { ErrorNotice } from "@relicario/shared/ui";
import type { ComponentType } from "react";

import type { VaultElementProps } from "./VaultElement.tsx";

/**
 * Elements of the vaults that this remote created. Not part of the contract: other remotes have the
 * picture field.
 */
const elements = new WeakMap<Vault, ComponentType<VaultElementProps>>();

export function registerVaultElement(vault: Vault, VaultElement: ComponentType<VaultElementProps>): void {
  elements.set(vault, VaultElement);
}

/** For a vault that this remote did not create the component shows that it is unavailable. */
export function getVaultElement(vault: Vault): ComponentType<VaultElementProps> {
  return elements.get(vault) ?? UnavailableElement;
}

function UnavailableElement() {
  return <ErrorNotice error={new PortalError("vault_unavailable")} />;
}
