import * as Dialog from "@radix-ui/react-dialog";
import { depths, IconButton, panelMotion, s, space } from "@relicario/shared/ui";
import { AnimatePresence, m, useIsPresent } from "framer-motion";
import { CircleHelp, X } from "lucide-react";
import type { RefObject } from "react";
import { createPortal } from "react-dom";
import { useTranslation } from "react-i18next";
import { NavLink } from "react-router-dom";
import { styled } from "styled-components";

import { DestinationEntry, FeedbackEntry, LanguageEntry, LogoutEntry, ThemeEntry } from "./Entries.tsx";
import { frameSizes } from "../popups/frame-sizes.ts";
import { NavigationColumn, NavigationList, RemoteEntries } from "./RemoteEntries.tsx";
import { entryStyles, EntryText } from "./styles.ts";
import { destinations } from "../routes/navigation.ts";

export interface MobileMenuProps {
  readonly open: boolean;
  readonly onClose: () => void;
  /** The button that gets the focus back when the menu closes. */
  readonly trigger: RefObject<HTMLElement | null>;
  readonly userName: string;
  readonly onLogout: () => void;
}

/** Menu of small screens. Slides down over the whole screen. */
export function MobileMenu({ open, onClose, trigger, userName, onLogout }: MobileMenuProps) {
  return (
    <Dialog.Root open={open} onOpenChange={onClose}>
      {createPortal(
        <AnimatePresence>
          {open && (
            <Panel {...panelMotion}>
              <Sheet onClose={onClose} trigger={trigger} userName={userName} onLogout={onLogout} />
            </Panel>
          )}
        </AnimatePresence>,
        document.body,
      )}
    </Dialog.Root>
  );
}

/**
 * Content of the menu. While it slides up, it is an inert copy: the dialog has already closed, and
 * the focus is back on the page.
 */
function Sheet({ onClose, trigger, userName, onLogout }: Omit<MobileMenuProps, "open">) {
  const { t } = useTranslation(["header", "beta-sidebar", "common"]);
  const isPresent = useIsPresent();
  const content = (
    <Column {...(!isPresent && { inert: true, "aria-hidden": true })}>
      <SheetHeader>
        <Dialog.Title asChild>
          <SheetTitle>{t("header:menu.title")}</SheetTitle>
        </Dialog.Title>
        <Dialog.Close asChild>
          <IconButton label={t("common:dialog.close_action")} icon={<X aria-hidden />} />
        </Dialog.Close>
      </SheetHeader>
      <NavigationColumn aria-label={t("beta-sidebar:navigation_aria")}>
        <NavigationList>
          {destinations.map((destination) => (
            <li key={destination.name}>
              <DestinationEntry destination={destination} onNavigate={onClose} />
            </li>
          ))}
        </NavigationList>
        <RemoteEntries onNavigate={onClose} />
        <NavigationList>
          <li>
            <HelpLink to="/help" onClick={onClose}>
              <CircleHelp aria-hidden />
              <EntryText>{t("beta-sidebar:help_action")}</EntryText>
            </HelpLink>
          </li>
          <li>
            <FeedbackEntry onNavigate={onClose} />
          </li>
        </NavigationList>
      </NavigationColumn>
      <Footer>
        <LanguageEntry />
        <ThemeEntry />
        <LogoutEntry
          userName={userName}
          onLogout={() => {
            onClose();
            onLogout();
          }}
        />
      </Footer>
    </Column>
  );
  if (!isPresent) return content;
  return (
    <Dialog.Content
      asChild
      aria-describedby={undefined}
      onCloseAutoFocus={(event) => {
        event.preventDefault(); // Radix would focus its own trigger, which is not used here
        trigger.current?.focus();
      }}
    >
      {content}
    </Dialog.Content>
  );
}

const Panel = styled(m.div)`
  position: fixed;
  inset: 0;
  z-index: ${depths.overlay};
  background: ${s("surface")};
  pointer-events: none; /* the dialog inside takes them while it is open */
  box-shadow: 0 -12vh ${s("surface")}; /* hides the page above when the animation overshoots */
`;

const Column = styled.div`
  display: flex;
  flex-direction: column;
  gap: ${space(4)};
  height: 100%;
  padding: 0 ${space(4)} ${space(6)};
  overflow-y: auto;
`;

const SheetHeader = styled.div`
  display: flex;
  align-items: center;
  justify-content: space-between;
  height: ${frameSizes.topBar}px;
  margin-right: -${space(2)};
`;

const SheetTitle = styled.h2`
  font-size: ${s("textLarge")};
`;

const Footer = styled.div`
  display: flex;
  flex-direction: column;
  gap: ${space(1)};
  margin-top: auto;
  padding-top: ${space(4)};
  border-top: 1px solid ${s("border")};
`;

const HelpLink = styled(NavLink)`
  ${entryStyles}
`;
