import { Check, Copy } from "lucide-react";
import { useState, type ComponentType } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { Button as PlainButton, type ButtonProps, type ButtonSize, type ButtonTone } from "../ui/Button.tsx";
import { clearClipboardLater, clipboardClearMilliseconds } from "./clipboard.ts";
import { FieldError } from "./Field.tsx";
import { SmallText, visuallyHidden } from "../ui/layout.tsx";

export interface CopyButtonProps {
  /** Called on each press, so that the page does not hold the text earlier. */
  readonly getText: () => string;
  readonly label: string;
  /** Whether to clear the clipboard 30 s after copying. */
  readonly sensitive?: boolean;
  readonly tone?: ButtonTone;
  readonly size?: ButtonSize;
  /** Clears the clipboard after a sensitive copy; resolves when it is cleared. */
  readonly clearClipboard?: () => Promise<void>;
  readonly Button?: ComponentType<ButtonProps>;
}

type CopyState = "idle" | "copied" | "cleared" | "refused";

export function CopyButton({
  getText,
  label,
  sensitive = false,
  tone = "quiet",
  size = "medium",
  clearClipboard = clearClipboardLater,
  Button = PlainButton,
}: CopyButtonProps) {
  const { t } = useTranslation("common");
  const [state, setState] = useState<CopyState>("idle");

  const handleCopy = () => {
    navigator.clipboard.writeText(getText()).then(
      () => {
        setState("copied");
        if (sensitive)
          void clearClipboard().then(() => {
            setState("cleared");
          });
      },
      () => {
        setState("refused"); // a hint next to the button tells the person to copy by hand
      },
    );
  };

  return (
    <Box>
      <Button
        tone={tone}
        size={size}
        icon={state === "copied" ? <Check aria-hidden /> : <Copy aria-hidden />}
        onClick={handleCopy}
      >
        {label}
      </Button>
      <Status data-state={state}>
        <SmallText role="status">
          {state === "copied" &&
            (sensitive
              ? t("copy.secret_status", { seconds: clipboardClearMilliseconds / 1000 })
              : t("copy.copied_status"))}
          {state === "cleared" && t("copy.cleared_status")}
        </SmallText>
        {state === "refused" && <FieldError>{t("copy.refused_error")}</FieldError>}
      </Status>
    </Box>
  );
}

/**
 * `display: contents` lays out the button among its neighbours and the message below all of them,
 * so that none of them moves.
 */
const Box = styled.div`
  display: contents;
  & > button {
    align-self: flex-start;
  }
`;

const Status = styled.div`
  order: 1;
  width: 100%;
  &[data-state="idle"] {
    ${visuallyHidden}
  }
`;
