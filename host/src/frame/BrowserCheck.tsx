import { ConfirmDialog, useDialog } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

/**
 * Whether this browser has WebAssembly, which the vault needs. Browsers that are embedded in other
 * programs sometimes lack it.
 */
function hasWebAssembly(): boolean {
  return Reflect.has(globalThis, "WebAssembly");
}

/**
 * Asks the person to use another browser when WebAssembly is missing. Its button opens the same
 * address in a new window. Shown only to signed-in people, because visitors do not need
 * WebAssembly.
 */
export function BrowserCheck() {
  const { t } = useTranslation("modals");
  const { open, onClose } = useDialog(!hasWebAssembly());
  return (
    <ConfirmDialog
      open={open}
      alert
      singleButton
      title={t("unsupported.title")}
      description={t("unsupported.body")}
      confirmLabel={t("unsupported.open_action")}
      onAnswer={(confirmed) => {
        if (confirmed) window.open(window.location.href, "_blank", "noopener");
        else onClose();
      }}
    />
  );
}
