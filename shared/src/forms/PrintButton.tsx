import { Printer } from "lucide-react";
import { useState, type ComponentType } from "react";
import { styled } from "styled-components";

import { Button as PlainButton, type ButtonProps, type ButtonTone } from "../ui/Button.tsx";
import { s, space } from "../ui/tokens.ts";
import { Verbatim } from "../ui/Verbatim.tsx";
import { PrintSheet } from "./PrintSheet.tsx";

export interface PrintButtonProps {
  readonly label: string;
  /** Heading on paper. */
  readonly title: string;
  /** Called on each press, because the text is in the page only while printing. */
  readonly getText: () => string;
  readonly tone?: ButtonTone;
  /**
   * Called when the browser's print dialog closes. A page cannot know whether anything was printed.
   */
  readonly onPrinted?: () => void;
  readonly Button?: ComponentType<ButtonProps>;
}

/** Prints a text without showing it on the screen. */
export function PrintButton({
  label,
  title,
  getText,
  tone = "quiet",
  onPrinted,
  Button = PlainButton,
}: PrintButtonProps) {
  const [printedText, setPrintedText] = useState<string | null>(null);
  return (
    <>
      <Button
        tone={tone}
        icon={<Printer aria-hidden />}
        onClick={() => {
          setPrintedText(getText());
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
          <Title>
            <Verbatim>{title}</Verbatim>
          </Title>
          <Text dir="auto" translate="no">
            {printedText}
          </Text>
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
