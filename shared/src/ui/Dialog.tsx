import * as Radix from "@radix-ui/react-dialog";
import { AnimatePresence, m } from "framer-motion";
import { X } from "lucide-react";
import { useCallback, useMemo, useRef, useState, type ReactNode } from "react";
import { createPortal } from "react-dom";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { IconButton } from "./Button.tsx";
import { backdropMotion, dialogMotion } from "./motion.ts";
import { depths, media, s, space } from "./tokens.ts";

export interface DialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
}

export interface DialogWithContentProps extends DialogProps {
  readonly title: string;
  readonly description?: ReactNode;
  /** Shown next to the title. */
  readonly icon?: ReactNode;
  /** Whether Escape and clicks outside leave it open, and it has no close button. */
  readonly mustAnswer?: boolean;
  /** `alertdialog`: screen readers interrupt for it. */
  readonly role?: "dialog" | "alertdialog";
  /** Buttons. */
  readonly footer?: ReactNode;
  readonly children?: ReactNode;
}

/**
 * Modal dialog that Escape and a click outside close. People can use it while it opens. On closing
 * it is unmounted at once: the focus returns to the page, and only the overlay fades.
 */
export function Dialog({
  open,
  onClose,
  title,
  description,
  icon,
  mustAnswer = false,
  role = "dialog",
  footer,
  children,
}: DialogWithContentProps) {
  const { t } = useTranslation("common");
  const previousFocus = useRef<Element | null>(null);
  const handleOpenFocus = (event: Event) => {
    previousFocus.current = document.activeElement;
    const focusTarget =
      event.currentTarget instanceof Element ? event.currentTarget.querySelector("[data-autofocus]") : null;
    if (!(focusTarget instanceof HTMLElement)) return; // otherwise Radix focuses the first control
    event.preventDefault();
    focusTarget.focus();
  };
  const restoreFocus = (event: Event) => {
    event.preventDefault(); // Radix would focus its trigger, which is not used here
    if (previousFocus.current instanceof HTMLElement && previousFocus.current.isConnected)
      previousFocus.current.focus();
  };
  const preventDismiss = (event: Event) => {
    if (mustAnswer) event.preventDefault();
  };
  return (
    <Radix.Root
      open={open}
      onOpenChange={(next) => {
        if (!next) onClose();
      }}
    >
      {createPortal(<AnimatePresence>{open && <Backdrop {...backdropMotion} />}</AnimatePresence>, document.body)}
      <Radix.Portal>
        <DismissLayer />
        <Positioner>
          <Radix.Content
            asChild
            role={role}
            onOpenAutoFocus={handleOpenFocus}
            onCloseAutoFocus={restoreFocus}
            onEscapeKeyDown={preventDismiss}
            onInteractOutside={preventDismiss}
            {...(description === undefined ? { "aria-describedby": undefined } : {})}
          >
            <Sheet {...dialogMotion}>
              <Header $hasClose={!mustAnswer}>
                {icon}
                <Title>{title}</Title>
              </Header>
              {description !== undefined && <Description>{description}</Description>}
              {children}
              {footer !== undefined && <Footer>{footer}</Footer>}
              {/* Last in keyboard order, after the dialog's own controls. */}
              {!mustAnswer && (
                <Radix.Close asChild>
                  <CloseButton label={t("dialog.close_action")} icon={<X aria-hidden />} />
                </Radix.Close>
              )}
            </Sheet>
          </Radix.Content>
        </Positioner>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** Returns the state of a dialog, with functions to open and close it. */
export function useDialog(initiallyOpen = false): DialogProps & { readonly show: () => void } {
  const [open, setOpen] = useState(initiallyOpen);
  const show = useCallback(() => {
    setOpen(true);
  }, []);
  const onClose = useCallback(() => {
    setOpen(false);
  }, []);
  return useMemo(() => ({ open, show, onClose }), [open, show, onClose]);
}

/** The overlay that people see. It takes no clicks, so that the page can be used while it fades. */
const Backdrop = styled(m.div)`
  position: fixed;
  inset: 0;
  z-index: ${depths.dialog};
  background: ${s("overlay")};
  pointer-events: none;
`;

/** Takes clicks outside the dialog, and keeps the page from scrolling. */
const DismissLayer = styled(Radix.Overlay)`
  position: fixed;
  inset: 0;
  z-index: ${depths.dialog};
`;

const Positioner = styled.div`
  position: fixed;
  inset: 0;
  z-index: ${depths.dialog};
  display: grid;
  place-items: center;
  padding: ${space(4)};
  overflow-y: auto;
  pointer-events: none;
  ${media.mobile} {
    align-items: end;
  }
`;

const Sheet = styled(m.div)`
  position: relative;
  display: flex;
  flex-direction: column;
  gap: ${space(4)};
  width: min(100%, 480px);
  padding: ${space(6)};
  border: 1px solid ${s("border")};
  border-radius: ${s("radius")};
  background: ${s("surfaceRaised")};
  color: ${s("text")};
  box-shadow: ${s("shadowRaised")};
  pointer-events: auto;
  &:focus-visible {
    outline: none;
  }
`;

const CloseButton = styled(IconButton)`
  position: absolute;
  top: ${space(3)};
  right: ${space(3)};
`;

const Header = styled.div<{ readonly $hasClose: boolean }>`
  display: flex;
  align-items: flex-start;
  gap: ${space(3)};
  padding-right: ${({ $hasClose }) => ($hasClose ? space(10) : 0)};
  & > svg {
    flex: none;
    margin-top: 2px;
  }
`;

const Title = styled(Radix.Title)`
  font-size: ${s("textLarge")};
  min-width: 0;
`;

const Description = styled(Radix.Description)`
  color: ${s("textMuted")};
  max-width: ${s("lineLength")};
`;

const Footer = styled.div`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(3)};
  margin-top: ${space(2)};
  & > * {
    flex: 1 1 auto;
  }
`;
