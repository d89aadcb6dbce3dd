import { Printer } from "lucide-react";
import { useState } from "react";
import { styled } from "styled-components";

import { Button, type ButtonTone } from "../ui/Button.tsx";
import { s, space } from "../ui/tokens.ts";
import { PrintSheet } from "./PrintSheet.tsx";

export interface PrintButtonProps {
  readonly label: string;
  /** Above the text on paper. */
  readonly title: string;
  /**
   * Called when the button is pressed: before that, and after printing, the text is not in the
   * page.
   */
  readonly text: () => string;
  readonly tone?: ButtonTone;
  /** Called when the browser's dialog was closed. A page cannot know whether it was printed. */
  readonly onPrinted?: () => void;
}

/** Prints a text on a sheet of its own, without showing it on the screen. */
export function PrintButton({ label, title, text, tone = "quiet", onPrinted }: PrintButtonProps) {
  const [printedText, setPrintedText] = useState<string | null>(null);
  return (
    <>
      <Button
        tone={tone}
        icon={<Printer aria-hidden />}
        onClick={() => {
          setPrintedText(text());
        }}
      >
        {label}
      </Button>
      {printedText !== null && (
        <PrintSheet
          onEnd={() => {
            setPrintedText(null);
            onPrinted?.();
          }}
        >
          <Title>{title}</Title>
          <Text>{printedText}</Text>
        </PrintSheet>
      )}
    </>
  );
}

const Title = styled.h1`
  font-size: 14pt;
`;

const Text = styled.pre`
  margin-top: ${space(4)};
  font-family: ${s("fontMono")};
  font-size: 12pt;
  white-space: pre-wrap;
  overflow-wrap: anywhere;
`;
