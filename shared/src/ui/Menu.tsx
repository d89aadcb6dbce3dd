import { EllipsisVertical } from "lucide-react";
import { useState, type KeyboardEvent } from "react";

import { IconButton } from "./Button.tsx";
import { MenuSheet, type MenuProps } from "./MenuSheet.tsx";

/**
 * A button with three dots that opens a menu. Lists have many of them: Radix is rendered only after
 * the first press.
 */
export function Menu({ label, items }: MenuProps) {
  const [asked, setAsked] = useState<"pointer" | "keyboard" | null>(null);
  if (asked !== null) return <MenuSheet label={label} items={items} by={asked} />;
  const handleKey = (event: KeyboardEvent) => {
    if (event.key !== "ArrowDown") return;
    event.preventDefault();
    setAsked("keyboard");
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
        setAsked(detail === 0 ? "keyboard" : "pointer"); // a click by keyboard
      }}
    />
  );
}
