import { EllipsisVertical } from "lucide-react";
import { useState, type KeyboardEvent, type ReactNode } from "react";

import { IconButton } from "./Button.tsx";
import { MenuSheet } from "./MenuSheet.tsx";

export interface MenuItem {
  readonly key: string;
  readonly label: string;
  readonly icon?: ReactNode;
  readonly tone?: "danger";
  readonly disabled?: boolean;
  readonly onSelect: () => void;
}

export interface MenuProps {
  /** What the menu is about: the name of its button. */
  readonly label: string;
  readonly items: readonly MenuItem[];
}

/** A button with three dots and what it opens. A list has many: each is a plain button until it is pressed for the first time. */
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
        setAsked(detail === 0 ? "keyboard" : "pointer"); // no pointer clicked
      }}
    />
  );
}
