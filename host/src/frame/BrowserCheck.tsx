import { ConfirmDialog, useDialog } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

/**
 * Whether this browser has WebAssembly, which opens secrets. Browsers embedded in other programs
 * sometimes lack it.
 */
function hasWebAssembly(): boolean {
  return Reflect.has(globalThis, "WebAssembly");
}

/**
 * Says that another browser is needed where WebAssembly is missing. Shown to signed-in people
 * alone: visitors do not need it. Its button opens the same address in a new window.
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
