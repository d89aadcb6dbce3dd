import { useEffect, useEffectEvent, type ReactNode } from "react";
import { createPortal } from "react-dom";
import { createGlobalStyle, styled } from "styled-components";

export interface PrintSheetProps {
  /**
   * Called when the browser's print dialog closes. A page cannot know whether anything was printed.
   */
  readonly onEnd: () => void;
  readonly children: ReactNode;
}

/**
 * Prints only its children, on A4 or Letter paper, when it is mounted. The screen does not show
 * them.
 */
export function PrintSheet({ onEnd, children }: PrintSheetProps) {
  const notifyEnd = useEffectEvent(onEnd);
  useEffect(() => {
    const handleAfterPrint = () => {
      notifyEnd();
    };
    window.addEventListener("afterprint", handleAfterPrint);
    window.print();
    return () => {
      window.removeEventListener("afterprint", handleAfterPrint);
    };
  }, []);
  return createPortal(
    <Sheet data-print aria-hidden translate="no">
      <PrintOnlySheet />
      {children}
    </Sheet>,
    document.body,
  );
}

const PrintOnlySheet = createGlobalStyle`
  @media print { body > :not([data-print]) { display: none !important; } }
`;

const Sheet = styled.div`
  display: none;
  @media print {
    display: block;
    color: #000;
    background: #fff;
  }
`;
