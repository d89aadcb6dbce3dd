import { createLater, depths, IconButton, s, space, useLater } from "@relicario/shared/ui";
import { Menu } from "lucide-react";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import styled from "styled-components";

import { LoginEntry } from "./Entries.tsx";
import { frameSizes } from "./frame-parts.ts";
import { Logo } from "./Logo.tsx";

/** The menu's code: for small screens, once somebody touches the page. */
export const mobileMenu = createLater(() => import("./MobileMenu.tsx"));

export interface TopBarProps {
  readonly product: string;
  readonly userName: string;
  /** Null for a visitor of a shared link: a login button instead of the menu. */
  readonly onLogout: (() => void) | null;
  readonly onLogin: () => void;
}

/** The top bar of small screens, with a menu that slides down over the whole screen. */
export function TopBar({ product, userName, onLogout, onLogin }: TopBarProps) {
  const { t } = useTranslation(["header", "errors"]);
  const [open, setOpen] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const close = () => {
    setOpen(false);
  };
  const parts = useLater(mobileMenu, open, () => {
    window.alert(t("errors:remote_unreachable"));
    close();
  });
  return (
    <Bar>
      <Logo product={product} />
      {onLogout === null ? (
        <Short>
          <LoginEntry onLogin={onLogin} />
        </Short>
      ) : (
        <>
          <IconButton
            ref={opener}
            label={t("header:menu.open_action")}
            icon={<Menu aria-hidden />}
            aria-haspopup="dialog"
            aria-expanded={open}
            data-state={open ? "open" : "closed"}
            data-tour="mobile-menu"
            onClick={() => {
              setOpen(true);
            }}
          />
          {parts !== null && <parts.MobileMenu open={open} onClose={close} opener={opener} userName={userName} onLogout={onLogout} />}
        </>
      )}
    </Bar>
  );
}

const Bar = styled.header`
  position: sticky;
  top: 0;
  z-index: ${depths.frame};
  display: flex;
  align-items: center;
  justify-content: space-between;
  gap: ${space(3)};
  height: ${frameSizes.topBar}px;
  padding: 0 ${space(2)} 0 ${space(4)};
  border-bottom: 1px solid ${s("border")};
  background: ${s("surface")};
`;

const Short = styled.div`
  flex: none;
`;
