import { CopyButton, PrintButton, saveFile } from "@relicario/shared/forms";
import { Button, s, SmallText, space, SpacedRow, Stack } from "@relicario/shared/ui";
import { Download, Eye, EyeOff } from "lucide-react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { revealMilliseconds, useReveal } from "./useReveal.ts";

interface RevealedTextProps {
  readonly title: string;
  /** File name. */
  readonly name: string;
  readonly content: Uint8Array<ArrayBuffer>;
}

/** A text that is hidden until asked for. Nothing moves in: it is there at once. */
export function RevealedText({ title, name, content }: RevealedTextProps) {
  const { t } = useTranslation("beta-recover");
  const { revealed, setRevealed } = useReveal();
  const text = () => new TextDecoder().decode(content);
  return (
    <Stack $gap={4}>
      <Paper data-state={revealed ? "shown" : "hidden"}>
        {revealed ? (
          <pre tabIndex={0} aria-label={t("text.content_aria")}>
            {text()}
          </pre>
        ) : (
          <Cover>
            <EyeOff aria-hidden />
            <span>{t("text.hidden_body")}</span>
          </Cover>
        )}
      </Paper>
      <SpacedRow $align="start">
        <Button
          icon={revealed ? <EyeOff aria-hidden /> : <Eye aria-hidden />}
          onClick={() => {
            setRevealed(!revealed);
          }}
        >
          {t(revealed ? "text.hide_action" : "text.show_action")}
        </Button>
        <Button
          tone="quiet"
          icon={<Download aria-hidden />}
          onClick={() => {
            saveFile(name, content.slice());
          }}
        >
          {t("text.download_action")}
        </Button>
        <CopyButton secret label={t("text.copy_action")} text={text} />
        <PrintButton label={t("text.print_action")} title={title} text={text} />
      </SpacedRow>
      <SmallText>{t("text.hides_hint", { seconds: revealMilliseconds / 1000 })}</SmallText>
    </Stack>
  );
}

const Paper = styled.div`
  min-height: 168px;
  border: 1px solid ${s("border")};
  border-radius: ${s("radius")};
  background: ${s("surfaceSunken")};
  & > pre {
    margin: 0;
    padding: ${space(4)};
    min-height: 166px;
    max-height: 60vh;
    overflow: auto;
    border-radius: ${s("radius")};
    font-family: ${s("fontMono")};
    font-size: 1rem;
    line-height: 1.6;
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }
`;

const Cover = styled.div`
  display: flex;
  flex-direction: column;
  align-items: center;
  justify-content: center;
  gap: ${space(2)};
  min-height: 166px;
  padding: ${space(4)};
  color: ${s("textMuted")};
  text-align: center;
`;
