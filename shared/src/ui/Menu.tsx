import { EllipsisVertical } from "lucide-react";
import { useState, type KeyboardEvent } from "react";

import { IconButton } from "./Button.tsx";
import { MenuSheet, type MenuProps } from "./MenuSheet.tsx";

/**
 * A button with three dots that opens a menu. Lists have many of them: Radix is rendered only after
 * the first press.
 */
export function Menu({ label, items }: MenuProps) {
  const [openedBy, setOpenedBy] = useState<"pointer" | "keyboard" | null>(null);
  if (openedBy !== null) return <MenuSheet label={label} items={items} openedBy={openedBy} />;
  const handleKey = (event: KeyboardEvent) => {
    if (event.key !== "ArrowDown") return;
    event.preventDefault();
    setOpenedBy("keyboard");
  };
  return (
    <IconButton
      label={label}
      icon={<EllipsisVertical aria-hidden />}
      aria-haspopup="menu"
      aria-expanded={false}
      data-state="closed"
      onKeyDown={handleKey}
      onClick={({ detail }) => {
        setOpenedBy(detail === 0 ? "keyboard" : "pointer"); // a click by keyboard
      }}
    />
  );
}
