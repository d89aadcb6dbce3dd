import { EllipsisVertical } from "lucide-react";
import { useState, type KeyboardEvent, type ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { IconButton } from "./Button.tsx";
import { useLater } from "./later.ts";
import { overlays } from "./overlays-later.ts";

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
  const { t } = useTranslation("errors");
  const [asked, setAsked] = useState<"pointer" | "keyboard" | null>(null);
  const parts = useLater(overlays, asked !== null, () => {
    window.alert(t("remote_unreachable"));
    setAsked(null);
  });
  if (asked !== null && parts !== null) return <parts.MenuSheet label={label} items={items} by={asked} />;
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
