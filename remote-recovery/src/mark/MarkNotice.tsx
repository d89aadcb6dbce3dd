import { useNumberedWords } from "@relicario/shared/forms";
import { Button, Notice, s, SmallText, space, Stack } from "@relicario/shared/ui";
import type { Mark, NotedMark } from "@relicario/vault/mark";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { swatches } from "./swatches.ts";

interface MarkNoticeProps {
  /** Null on a device that does not know the mark yet. */
  readonly mark: NotedMark | null;
  /** The person has read what the note says. */
  readonly onAcknowledge: () => void;
}

/**
 * The account's mark, above each prompt of the vault. Only inside the vault's origin: the portal's
 * page must not know it.
 */
export function MarkNotice({ mark, onAcknowledge }: MarkNoticeProps) {
  const { t } = useTranslation("openers");
  if (mark === null) return <SmallText>{t("mark.unknown_body")}</SmallText>;
  if (mark.note === null) return <MarkLine mark={mark} />;
  return (
    <Notice title={t("mark.label")} actions={<Button onClick={onAcknowledge}>{t("mark.read_action")}</Button>}>
      <Stack $gap={2}>
        <MarkLine mark={mark} />
        <span>{t(`mark.${mark.note}_body`)}</span>
      </Stack>
    </Notice>
  );
}

export function MarkLine({
  mark: { words, colour },
  large = false,
}: {
  readonly mark: Mark;
  readonly large?: boolean;
}) {
  const { t } = useTranslation("openers");
  const spokenWords = useNumberedWords(words)
    .map(({ word }) => word)
    .join(" ");
  return (
    <Line
      $large={large}
      role="img"
      aria-label={t("mark.mark_aria", { words: spokenWords, colour: t(`mark.${colour}`) })}
      translate="no"
    >
      <Swatch $colour={swatches[colour]} />
      <span>{spokenWords}</span>
    </Line>
  );
}

const Line = styled.span<{ $large: boolean }>`
  display: inline-flex;
  align-items: center;
  gap: ${space(2)};
  min-height: 1lh;
  font-family: ${s("fontMono")};
  font-size: ${({ $large }) => s($large ? "textLarge" : "textSmall")};
  overflow-wrap: anywhere;
`;

const Swatch = styled.span<{ $colour: string }>`
  flex: none;
  width: 1em;
  height: 1em;
  border-radius: ${s("radiusRound")};
  background: ${({ $colour }) => $colour};
  forced-color-adjust: none; /* the colour is the message */
`;
