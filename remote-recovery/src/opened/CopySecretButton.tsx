import { clearClipboardLater, CopyButton, type CopyButtonProps } from "@relicario/shared/forms";
import { createContext, useContext } from "react";

import { GuardedButton } from "../openers/GuardedButton.tsx";

/** Clears the clipboard for an element, which may be left before the time is over. */
export const ClearClipboardContext = createContext<() => Promise<void>>(clearClipboardLater);

/** Copies a secret from an element of the vault. */
export function CopySecretButton(props: Pick<CopyButtonProps, "getText" | "label" | "size">) {
  const clearClipboard = useContext(ClearClipboardContext);
  return <CopyButton {...props} sensitive clearClipboard={clearClipboard} Button={GuardedButton} />;
}
