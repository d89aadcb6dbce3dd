import { useDeferredValue, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { usePortal } from "../../contract/portal.ts";
import { SmallText } from "../../ui/layout.tsx";
import { s, space } from "../../ui/tokens.ts";
import { loadStrengthEstimator, type StrengthLevel } from "./strength.ts";

export interface StrengthMeterProps {
  readonly passphrase: string;
}

const levels = [1, 2, 3, 4] as const;
const minAcceptableLevel = 3;

/**
 * How hard a passphrase or password is to guess, told while it is typed. It advises, and refuses
 * nothing.
 */
export function StrengthMeter({ passphrase }: StrengthMeterProps) {
  const { t } = useTranslation("common");
  const level = useStrength(passphrase);
  const filledBars = level === null ? 0 : level === "unknown" ? 0 : Math.max(level, passphrase === "" ? 0 : 1);
  return (
    <Box>
      <Bars aria-hidden data-level={level}>
        {levels.map((bar) => (
          <span key={bar} data-on={bar <= filledBars} />
        ))}
      </Bars>
      <SmallText role="status">
        {passphrase === ""
          ? t("strength.empty_hint")
          : level === null
            ? " "
            : level === "unknown"
              ? t("strength.unknown_status")
              : `${t("strength.label")}: ${t(`strength.level_${String(level)}_status`)}. `}
        {typeof level === "number" && passphrase !== "" && level < minAcceptableLevel && t("strength.advice_hint")}
      </SmallText>
    </Box>
  );
}

/**
 * Null until it is known; `unknown` when the estimator could not be loaded: then a passphrase is
 * taken unjudged.
 */
function useStrength(passphrase: string): StrengthLevel | "unknown" | null {
  const { language } = usePortal();
  const deferredPassphrase = useDeferredValue(passphrase);
  const [level, setLevel] = useState<StrengthLevel | "unknown" | null>(null);
  useEffect(() => {
    let current = true;
    loadStrengthEstimator(language).then(
      (estimate) => {
        if (current) setLevel(estimate(deferredPassphrase));
      },
      () => {
        if (current) setLevel("unknown");
      },
    );
    return () => {
      current = false;
    };
  }, [deferredPassphrase, language]);
  return level;
}

const Box = styled.div`
  display: flex;
  flex-direction: column;
  gap: ${space(1.5)};
  min-height: 3.4em;
`;

const Bars = styled.div`
  display: grid;
  grid-template-columns: repeat(4, 1fr);
  gap: ${space(1)};
  max-width: 320px;
  & > span {
    height: 6px;
    border-radius: ${s("radiusRound")};
    background: ${s("border")};
  }
  &[data-level="0"] > [data-on="true"],
  &[data-level="1"] > [data-on="true"] {
    background: ${s("danger")};
  }
  &[data-level="2"] > [data-on="true"] {
    background: ${s("star")};
  }
  &[data-level="3"] > [data-on="true"],
  &[data-level="4"] > [data-on="true"] {
    background: ${s("accent")};
  }
`;
