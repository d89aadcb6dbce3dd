import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { Button, type ButtonSize, type ButtonTone } from "../ui/Button.tsx";
import { clipboardClearMilliseconds, copyTemporarily } from "./clipboard.ts";
import { FieldError } from "./Field.tsx";
import { SmallText, visuallyHidden } from "../ui/layout.tsx";

export interface CopyButtonProps {
  /** Called when the button is pressed, so that the text is not kept in the page before. */
  readonly text: () => string;
  readonly label: string;
  /** A secret leaves the clipboard after 30 s. */
  readonly secret?: boolean;
  readonly tone?: ButtonTone;
  readonly size?: ButtonSize;
}

type CopyState = "idle" | "copied" | "cleared" | "refused";

export function CopyButton({ text, label, secret = false, tone = "quiet", size = "medium" }: CopyButtonProps) {
  const { t } = useTranslation("common");
  const [state, setState] = useState<CopyState>("idle");

  const handleCopy = () => {
    const copyPromise = secret
      ? copyTemporarily(text(), () => {
          setState("cleared");
        }).copied
      : navigator.clipboard.writeText(text());
    copyPromise.then(
      () => {
        setState("copied");
      },
      () => {
        setState("refused"); // a hint beside the button says to select and copy by hand
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
            (secret
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
 * `display: contents`: the button is laid out among its neighbours, and the message below all of
 * them, so that none of them moves.
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
