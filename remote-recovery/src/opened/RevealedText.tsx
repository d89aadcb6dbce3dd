import { PrintButton } from "@relicario/shared/forms";
import { s, SmallText, space, SpacedRow, Stack } from "@relicario/shared/ui";
import { Eye, EyeOff } from "lucide-react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { GuardedButton } from "../openers/GuardedButton.tsx";
import { CopySecretButton } from "./CopySecretButton.tsx";
import { DownloadButton } from "./DownloadButton.tsx";
import { revealMilliseconds, useReveal } from "./useReveal.ts";

interface RevealedTextProps {
  readonly title: string;
  /** File name. */
  readonly name: string;
  readonly content: Uint8Array<ArrayBuffer>;
  /** Whether to number the words, for a seed phrase. */
  readonly numbered: boolean;
}

/** Text that is hidden until the person reveals it. It is shown without animation. */
export function RevealedText({ title, name, content, numbered }: RevealedTextProps) {
  const { t } = useTranslation("common");
  const { revealed, setRevealed } = useReveal();
  const decodeText = () => new TextDecoder().decode(content);
  return (
    <Stack $gap={4}>
      <Paper data-state={revealed ? "shown" : "hidden"}>
        {revealed && numbered && (
          <Words aria-label={t("reveal.content_aria")} translate="no">
            {decodeText()
              .split(/\s+/)
              .filter((word) => word !== "")
              .map((word, index) => (
                <li key={index}>{`${word} `}</li>
              ))}
          </Words>
        )}
        {revealed && !numbered && (
          <pre tabIndex={0} aria-label={t("reveal.content_aria")} dir="auto" translate="no">
            {decodeText()}
          </pre>
        )}
        {!revealed && (
          <HiddenPlaceholder>
            <EyeOff aria-hidden />
            <span>{t("reveal.hidden_body")}</span>
          </HiddenPlaceholder>
        )}
      </Paper>
      <SpacedRow $align="start">
        <GuardedButton
          icon={revealed ? <EyeOff aria-hidden /> : <Eye aria-hidden />}
          onClick={() => {
            setRevealed(!revealed);
          }}
        >
          {t(revealed ? "reveal.hide_action" : "reveal.show_action")}
        </GuardedButton>
        <DownloadButton name={name} content={content} />
        <CopySecretButton label={t("reveal.copy_action")} getText={decodeText} />
        <PrintButton Button={GuardedButton} label={t("reveal.print_action")} title={title} getText={decodeText} />
      </SpacedRow>
      <SmallText>{t("reveal.hides_hint", { seconds: revealMilliseconds / 1000 })}</SmallText>
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
    max-height: 30rem; /* the viewport is as high as this content */
    overflow: auto;
    border-radius: ${s("radius")};
    font-family: ${s("fontMono")};
    font-size: 1rem;
    line-height: 1.6;
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }
`;

const Words = styled.ol`
  display: grid;
  grid-template-columns: repeat(auto-fill, minmax(8.5rem, 1fr));
  gap: ${space(1)} ${space(4)};
  padding: ${space(4)} ${space(4)} ${space(4)} ${space(10)};
  font-family: ${s("fontMono")};
  line-height: 1.8;
  list-style: decimal;
  & > li::marker {
    color: ${s("textMuted")};
    font-size: ${s("textSmall")};
  }
`;

const HiddenPlaceholder = styled.div`
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
