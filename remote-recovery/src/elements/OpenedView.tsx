import type { ContentKind, OpenedContent } from "@relicario/shared/contract";
import type { ComponentType } from "react";

import type { VaultElementProps } from "./VaultElement.tsx";

/** Creates the contract's view of an opened content, which an element of the vault shows. */
export function createOpenedView(
  VaultElement: ComponentType<VaultElementProps>,
  openedId: string,
  contentKind: ContentKind,
): OpenedContent["View"] {
  return function OpenedView({ title }) {
    return (
      <VaultElement field={{ kind: "opened", openedId, title }} variant={contentKind} onChange={() => undefined} />
    );
  };
}
