import { depths, IconButton, s, space } from "@relicario/shared/ui";
import { Menu } from "lucide-react";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { createGlobalStyle, styled } from "styled-components";

import { LoginEntry } from "./Entries.tsx";
import { frameSizes } from "../popups/frame-sizes.ts";
import { Logo } from "./Logo.tsx";
import { MobileMenu } from "./MobileMenu.tsx";

export interface TopBarProps {
  readonly product: string;
  readonly userName: string;
  /** Null for a visitor of a shared link, who gets a login button instead of the menu. */
  readonly onLogout: (() => void) | null;
  readonly onLogin: () => void;
}

/** Top bar of small screens, with a menu that slides down over the whole screen. */
export function TopBar({ product, userName, onLogout, onLogin }: TopBarProps) {
  const { t } = useTranslation("header");
  const [open, setOpen] = useState(false);
  const trigger = useRef<HTMLButtonElement>(null);
  const close = () => {
    setOpen(false);
  };
  return (
    <Bar>
      <ScrollPadding />
      <Logo product={product} />
      {onLogout === null ? (
        <LoginBox>
          <LoginEntry onLogin={onLogin} />
        </LoginBox>
      ) : (
        <>
          <IconButton
            ref={trigger}
            label={t("menu.open_action")}
            icon={<Menu aria-hidden />}
            aria-haspopup="dialog"
            aria-expanded={open}
            data-state={open ? "open" : "closed"}
            data-tour="mobile-menu"
            onClick={() => {
              setOpen(true);
            }}
          />
          <MobileMenu open={open} onClose={close} trigger={trigger} userName={userName} onLogout={onLogout} />
        </>
      )}
    </Bar>
  );
}

/** Keeps scroll targets, such as a focused heading, from being covered by the bars. */
const ScrollPadding = createGlobalStyle`
  html { scroll-padding: ${frameSizes.topBar + 8}px 0 ${frameSizes.mobileBar + 8}px; }
`;

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

const LoginBox = styled.div`
  flex: none;
`;
