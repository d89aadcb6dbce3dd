import { Printer } from "lucide-react";
import { useEffect, useState } from "react";
import { createPortal } from "react-dom";
import { createGlobalStyle, styled } from "styled-components";

import { Button, type ButtonTone } from "../ui/Button.tsx";
import { s, space } from "../ui/tokens.ts";

export interface PrintButtonProps {
  readonly label: string;
  /** Above the text on paper. */
  readonly title: string;
  /** Called when the button is pressed: before that, and after printing, the text is not in the page. */
  readonly text: () => string;
  readonly tone?: ButtonTone;
  /** Called when the browser's dialog was closed. A page cannot know whether it was printed. */
  readonly onPrinted?: () => void;
}

/** Prints a text on a sheet of its own, without showing it on the screen. */
export function PrintButton({ label, title, text, tone = "quiet", onPrinted }: PrintButtonProps) {
  const [sheet, setSheet] = useState<string | null>(null);
  useEffect(() => {
    if (sheet === null) return;
    const end = () => {
      setSheet(null);
      onPrinted?.();
    };
    window.addEventListener("afterprint", end);
    window.print();
    return () => {
      window.removeEventListener("afterprint", end);
    };
  }, [sheet, onPrinted]);
  return (
    <>
      <Button
        tone={tone}
        icon={<Printer aria-hidden />}
        onClick={() => {
          setSheet(text());
        }}
      >
        {label}
      </Button>
      {sheet !== null &&
        createPortal(
          <Sheet data-print aria-hidden>
            <OnlySheet />
            <h1>{title}</h1>
            <pre>{sheet}</pre>
          </Sheet>,
          document.body,
        )}
    </>
  );
}

const OnlySheet = createGlobalStyle`
  @media print { body > :not([data-print]) { display: none !important; } }
`;

const Sheet = styled.div`
  display: none;
  @media print {
    display: block;
    color: #000;
    background: #fff;
    & > h1 { font-size: 14pt; }
    & > pre { margin-top: ${space(4)}; font-family: ${s("fontMono")}; font-size: 12pt; white-space: pre-wrap; overflow-wrap: anywhere; }
  }
`;
