import * as Dialog from "@radix-ui/react-dialog";
import { depths, IconButton, panelMotion, s, space } from "@relicario/shared/ui";
import { CircleHelp, X } from "lucide-react";
import type { RefObject } from "react";
import { useTranslation } from "react-i18next";
import { NavLink } from "react-router-dom";
import styled from "styled-components";

import { DestinationEntry, LanguageEntry, LogoutEntry, ThemeEntry } from "./Entries.tsx";
import { entryLook, EntryText, frameSizes } from "./frame-parts.ts";
import { destinations } from "./navigation.ts";

export interface MobileMenuProps {
  readonly open: boolean;
  readonly onClose: () => void;
  /** The button that gets the focus back. */
  readonly opener: RefObject<HTMLElement | null>;
  readonly userName: string;
  readonly onLogout: () => void;
}

/** What slides down over the whole of a small screen. */
export function MobileMenu({ open, onClose, opener, userName, onLogout }: MobileMenuProps) {
  const { t } = useTranslation(["header", "beta-sidebar", "common"]);
  return (
    <Dialog.Root open={open} onOpenChange={onClose}>
      <Dialog.Portal>
        <Dialog.Content
          asChild
          aria-describedby={undefined}
          onCloseAutoFocus={(event) => {
            event.preventDefault(); // Radix would look for a trigger of its own
            opener.current?.focus();
          }}
        >
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
                    <DestinationEntry destination={destination} onGo={onClose} />
                  </li>
                ))}
                <li>
                  <HelpLink to="/help" onClick={onClose}>
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
                  onClose();
                  onLogout();
                }}
              />
            </Foot>
          </Sheet>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

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
