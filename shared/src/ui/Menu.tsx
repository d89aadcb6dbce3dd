import { EllipsisVertical } from "lucide-react";
import { useState, type KeyboardEvent } from "react";

import { IconButton } from "./Button.tsx";
import { MenuSheet, type MenuProps } from "./MenuSheet.tsx";

/**
 * Button with three dots that opens a menu. Renders Radix only after the first press, because lists
 * have many menus.
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
        setOpenedBy(detail === 0 ? "keyboard" : "pointer"); // 0: pressed by keyboard
      }}
    />
  );
}
