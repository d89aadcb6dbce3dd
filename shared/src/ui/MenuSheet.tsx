import * as Radix from "@radix-ui/react-dropdown-menu";
import { m } from "framer-motion";
import { EllipsisVertical } from "lucide-react";
import { useRef, type FocusEvent, type ReactNode } from "react";
import { styled } from "styled-components";

import { IconButton } from "./Button.tsx";
import { dialogMotion } from "./motion.ts";
import { depths, s, space } from "./tokens.ts";

export interface MenuItem {
  readonly key: string;
  readonly label: string;
  readonly icon?: ReactNode;
  readonly tone?: "danger";
  readonly disabled?: boolean;
  readonly onSelect: () => void;
}

export interface MenuProps {
  /** Accessible name of both the menu and its button. */
  readonly label: string;
  readonly items: readonly MenuItem[];
}

interface MenuSheetProps extends MenuProps {
  /** How the menu was opened. By keyboard, its first item gets the focus. */
  readonly openedBy: "pointer" | "keyboard";
}

/** Radix menu with its button, initially open. Replaces the plain button when that is pressed. */
export function MenuSheet({ label, items, openedBy }: MenuSheetProps) {
  const shouldFocusFirst = useRef(openedBy === "keyboard");
  const handleFocus = ({ target, currentTarget }: FocusEvent<HTMLDivElement>) => {
    if (!shouldFocusFirst.current || target !== currentTarget) return;
    shouldFocusFirst.current = false; // from then on Radix tracks keyboard use itself
    currentTarget.querySelector<HTMLElement>("[role=menuitem]:not([data-disabled])")?.focus();
  };
  return (
    <Radix.Root modal={false} defaultOpen>
      <Radix.Trigger asChild>
        <IconButton label={label} icon={<EllipsisVertical aria-hidden />} />
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content asChild align="end" sideOffset={4} collisionPadding={8} aria-label={label} onFocus={handleFocus}>
          <Sheet {...dialogMotion}>
            {items.map((item) => (
              <Item key={item.key} data-tone={item.tone} disabled={item.disabled ?? false} onSelect={item.onSelect}>
                {item.icon}
                <span>{item.label}</span>
              </Item>
            ))}
          </Sheet>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

const Sheet = styled(m.div)`
  z-index: ${depths.menu};
  min-width: 200px;
  max-width: calc(100vw - 16px);
  padding: ${space(1.5)};
  border: 1px solid ${s("border")};
  border-radius: ${s("radius")};
  background: ${s("surfaceRaised")};
  box-shadow: ${s("shadowRaised")};
  transform-origin: var(--radix-dropdown-menu-content-transform-origin);
`;

const Item = styled(Radix.Item)`
  display: flex;
  align-items: center;
  gap: ${space(3)};
  min-height: 44px;
  padding: ${space(2)} ${space(3)};
  border-radius: ${s("radiusSmall")};
  cursor: pointer;
  outline: none;
  &[data-highlighted] {
    background: ${s("accentSoft")};
  }
  &[data-disabled] {
    opacity: 0.55;
    cursor: not-allowed;
  }
  &[data-tone="danger"] {
    color: ${s("dangerText")};
  }
  & > svg {
    flex: none;
    width: 18px;
    height: 18px;
  }
`;
