import { IconButton, depths, panelMotion, s, space } from "@relicario/shared/ui";
import * as Dialog from "@radix-ui/react-dialog";
import { CircleHelp, Menu, X } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { NavLink } from "react-router-dom";
import styled from "styled-components";

import { DestinationEntry, LanguageEntry, LoginEntry, LogoutEntry, ThemeEntry } from "./Entries.tsx";
import { entryLook, EntryText, frameSizes } from "./frame-parts.ts";
import { Logo } from "./Logo.tsx";
import { destinations } from "./navigation.ts";

export interface TopBarProps {
  readonly product: string;
  readonly userName: string;
  /** Null for a visitor of a shared link: a login button instead of the menu. */
  readonly onLogout: (() => void) | null;
  readonly onLogin: () => void;
}

/** The top bar of small screens, with a menu that slides down over the whole screen. */
export function TopBar({ product, userName, onLogout, onLogin }: TopBarProps) {
  const { t } = useTranslation(["header", "beta-sidebar", "common"]);
  const [open, setOpen] = useState(false);
  const close = () => {
    setOpen(false);
  };
  return (
    <Bar>
      <Logo product={product} />
      {onLogout === null ? (
        <Short>
          <LoginEntry onLogin={onLogin} />
        </Short>
      ) : (
        <Dialog.Root open={open} onOpenChange={setOpen}>
          <Dialog.Trigger asChild>
            <IconButton label={t("header:menu.open_action")} icon={<Menu aria-hidden />} data-tour="mobile-menu" />
          </Dialog.Trigger>
          <Dialog.Portal>
            <Dialog.Content asChild aria-describedby={undefined}>
              <Sheet>
                <SheetHead>
                  <Dialog.Title asChild>
                    <SheetTitle>{t("header:menu.title")}</SheetTitle>
                  </Dialog.Title>
                  <Dialog.Close asChild>
                    <IconButton label={t("common:dialog.close_action")} icon={<X aria-hidden />} />
                  </Dialog.Close>
                </SheetHead>
                <nav aria-label={t("beta-sidebar:navigation_aria")}>
                  <List>
                    {destinations.map((destination) => (
                      <li key={destination.name}>
                        <DestinationEntry destination={destination} onGo={close} />
                      </li>
                    ))}
                    <li>
                      <HelpLink to="/help" onClick={close}>
                        <CircleHelp aria-hidden />
                        <EntryText>{t("beta-sidebar:help_action")}</EntryText>
                      </HelpLink>
                    </li>
                  </List>
                </nav>
                <Foot>
                  <LanguageEntry />
                  <ThemeEntry />
                  <LogoutEntry
                    userName={userName}
                    onLogout={() => {
                      close();
                      onLogout();
                    }}
                  />
                </Foot>
              </Sheet>
            </Dialog.Content>
          </Dialog.Portal>
        </Dialog.Root>
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

const Sheet = styled.div`
  ${panelMotion}
  position: fixed;
  inset: 0;
  z-index: ${depths.overlay};
  display: flex;
  flex-direction: column;
  gap: ${space(4)};
  padding: 0 ${space(4)} ${space(6)};
  background: ${s("surface")};
  overflow-y: auto;
`;

const SheetHead = styled.div`
  display: flex;
  align-items: center;
  justify-content: space-between;
  height: ${frameSizes.topBar}px;
  margin-right: -${space(2)};
`;

const SheetTitle = styled.h2`
  font-size: ${s("textLarge")};
`;

const List = styled.ul`
  display: flex;
  flex-direction: column;
  gap: ${space(1)};
`;

const Foot = styled.div`
  display: flex;
  flex-direction: column;
  gap: ${space(1)};
  margin-top: auto;
  padding-top: ${space(4)};
  border-top: 1px solid ${s("border")};
`;

const HelpLink = styled(NavLink)`
  ${entryLook}
`;
