import type { TrustLevel } from "@relicario/shared/contract";
import { s, space } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

interface TrustBadgeProps {
  readonly trust: TrustLevel;
  readonly blocked: boolean;
}

export function TrustBadge({ trust, blocked }: TrustBadgeProps) {
  const { t } = useTranslation("beta-share");
  const status = blocked ? "blocked" : trust;
  return <Badge data-standing={status}>{t(`standing.${status}_status`)}</Badge>;
}

const Badge = styled.span`
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
