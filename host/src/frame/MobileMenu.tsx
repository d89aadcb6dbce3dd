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
import { entryLook, EntryText, frameSizes } from "./styles.ts";
import { destinations } from "./navigation.ts";

export interface MobileMenuProps {
  readonly open: boolean;
  readonly onClose: () => void;
  /** The button that gets the focus back. */
  readonly opener: RefObject<HTMLElement | null>;
  readonly userName: string;
  readonly onLogout: () => void;
}

/** The menu of small screens, which slides down over the whole screen. */
export function MobileMenu({ open, onClose, opener, userName, onLogout }: MobileMenuProps) {
  return (
    <Dialog.Root open={open} onOpenChange={onClose}>
      {createPortal(
        <AnimatePresence>
          {open && (
            <Panel {...panelMotion}>
              <Sheet onClose={onClose} opener={opener} userName={userName} onLogout={onLogout} />
            </Panel>
          )}
        </AnimatePresence>,
        document.body,
      )}
    </Dialog.Root>
  );
}

/**
 * The inert copy that is drawn while the panel slides up: the dialog has ended already, and the
 * focus is back on the page.
 */
function Sheet({ onClose, opener, userName, onLogout }: Omit<MobileMenuProps, "open">) {
  const { t } = useTranslation(["header", "beta-sidebar", "common"]);
  const here = useIsPresent();
  const content = (
    <Column {...(!here && { inert: true, "aria-hidden": true })}>
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
          <li>
            <FeedbackEntry onGo={onClose} />
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
    </Column>
  );
  if (!here) return content;
  return (
    <Dialog.Content
      asChild
      aria-describedby={undefined}
      onCloseAutoFocus={(event) => {
        event.preventDefault(); // Radix would focus its own trigger, which is not used here
        opener.current?.focus();
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
  pointer-events: none; /* the dialog in it has them, as long as there is one */
  box-shadow: 0 -12vh ${s("surface")}; /* where it swings over, the page does not look out above it */
`;

const Column = styled.div`
  display: flex;
  flex-direction: column;
  gap: ${space(4)};
  height: 100%;
  padding: 0 ${space(4)} ${space(6)};
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
