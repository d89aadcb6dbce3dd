import * as Radix from "@radix-ui/react-dialog";
import { X } from "lucide-react";
import { useRef } from "react";
import { useTranslation } from "react-i18next";
import styled, { keyframes } from "styled-components";

import { IconButton } from "./Button.tsx";
import type { DialogWithContentProps } from "./Dialog.tsx";
import { dialogMotion } from "./motion.ts";
import { depths, media, s, space } from "./tokens.ts";

/** What {@link Dialog} draws, once its code is here. */
export function DialogSheet({ open, onClose, title, description, icon, mustAnswer = false, role = "dialog", footer, children }: DialogWithContentProps) {
  const { t } = useTranslation("common");
  const opener = useRef<Element | null>(null);
  const handleOpenFocus = (event: Event) => {
    opener.current = document.activeElement;
    const chosen = event.currentTarget instanceof Element ? event.currentTarget.querySelector("[data-autofocus]") : null;
    if (!(chosen instanceof HTMLElement)) return; // the first control, as usual
    event.preventDefault();
    chosen.focus();
  };
  const giveFocusBack = (event: Event) => {
    event.preventDefault(); // Radix would look for a trigger of its own
    if (opener.current instanceof HTMLElement && opener.current.isConnected) opener.current.focus();
  };
  const stay = (event: Event) => {
    if (mustAnswer) event.preventDefault();
  };
  return (
    <Radix.Root
      open={open}
      onOpenChange={(next) => {
        if (!next) onClose();
      }}
    >
      <Radix.Portal>
        <Overlay />
        <Place>
          <Radix.Content
            asChild
            role={role}
            onOpenAutoFocus={handleOpenFocus}
            onCloseAutoFocus={giveFocusBack}
            onEscapeKeyDown={stay}
            onInteractOutside={stay}
            {...(description === undefined ? { "aria-describedby": undefined } : {})}
          >
            <Sheet>
              <Head $cross={!mustAnswer}>
                {icon}
                <Title>{title}</Title>
              </Head>
              {description !== undefined && <Description>{description}</Description>}
              {children}
              {footer !== undefined && <Footer>{footer}</Footer>}
              {/* Last, so that what the dialog is about comes first by keyboard. */}
              {!mustAnswer && (
                <Radix.Close asChild>
                  <Cross label={t("dialog.close_action")} icon={<X aria-hidden />} />
                </Radix.Close>
              )}
            </Sheet>
          </Radix.Content>
        </Place>
      </Radix.Portal>
    </Radix.Root>
  );
}

const appear = keyframes`
  from { opacity: 0; }
`;

const Overlay = styled(Radix.Overlay)`
  position: fixed;
  inset: 0;
  z-index: ${depths.dialog};
  background: ${s("overlay")};
  animation: ${appear} 120ms ease-out;
`;

const Place = styled.div`
  position: fixed;
  inset: 0;
  z-index: ${depths.dialog};
  display: grid;
  place-items: center;
  padding: ${space(4)};
  overflow-y: auto;
  pointer-events: none;
  ${media.mobile} { align-items: end; }
`;

const Sheet = styled.div`
  ${dialogMotion}
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
  &:focus-visible { outline: none; }
`;

const Cross = styled(IconButton)`
  position: absolute;
  top: ${space(3)};
  right: ${space(3)};
`;

const Head = styled.div<{ readonly $cross: boolean }>`
  display: flex;
  align-items: flex-start;
  gap: ${space(3)};
  padding-right: ${({ $cross }) => ($cross ? space(10) : 0)};
  & > svg { flex: none; margin-top: 2px; }
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
  & > * { flex: 1 1 auto; }
`;
