import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import styled from "styled-components";

import { Button, type ButtonSize, type ButtonTone } from "./Button.tsx";
import { clipboardMilliseconds, copyForAWhile } from "./clipboard.ts";
import { FieldError } from "./Field.tsx";
import { SmallText } from "./layout.tsx";
import { space } from "./tokens.ts";

export interface CopyButtonProps {
  /** Asked for when the button is pressed, so that no copy of it lies about. */
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
    const done = secret
      ? copyForAWhile(text(), () => {
          setState("cleared");
        }).copied
      : navigator.clipboard.writeText(text());
    done.then(
      () => {
        setState("copied");
      },
      () => {
        setState("refused"); // said beside the button: the person selects and copies by hand
      },
    );
  };

  return (
    <Box>
      <Button tone={tone} size={size} icon={state === "copied" ? <Check aria-hidden /> : <Copy aria-hidden />} onClick={handleCopy}>
        {label}
      </Button>
      <SmallText role="status">
        {state === "copied" && (secret ? t("copy.secret_status", { seconds: clipboardMilliseconds / 1000 }) : t("copy.copied_status"))}
        {state === "cleared" && t("copy.cleared_status")}
      </SmallText>
      {state === "refused" && <FieldError>{t("copy.refused_error")}</FieldError>}
    </Box>
  );
}

const Box = styled.div`
  display: flex;
  flex-direction: column;
  align-items: flex-start;
  gap: ${space(1)};
`;
