import type { Standing } from "@relicario/shared/contract";
import { s, space } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

interface StandingMarkProps {
  readonly standing: Standing;
  readonly blocked: boolean;
}

/** In one word how well this account knows somebody's keys. */
export function StandingMark({ standing, blocked }: StandingMarkProps) {
  const { t } = useTranslation("beta-share");
  const shown = blocked ? "blocked" : standing;
  return <Mark data-standing={shown}>{t(`standing.${shown}_status`)}</Mark>;
}

const Mark = styled.span`
  padding: 2px ${space(2)};
  border-radius: ${s("radiusRound")};
  background: ${s("surfaceSunken")};
  color: ${s("textMuted")};
  font-size: ${s("textSmall")};
  &[data-standing="compared"] {
    background: ${s("successSoft")};
    color: ${s("successText")};
  }
  &[data-standing="known"] {
    background: ${s("accentSoft")};
    color: ${s("accentText")};
  }
  &[data-standing="changed"] {
    background: ${s("dangerSoft")};
    color: ${s("dangerText")};
  }
`;
