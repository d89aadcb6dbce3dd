import { useDeferredValue, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { requiredStrength, type chosenStrength, type StrengthLevel } from "../../contract/strength-level.ts";
import { estimateStrength } from "../../contract/strength.ts";
import { SmallText } from "../../ui/layout.tsx";
import { s, space } from "../../ui/tokens.ts";

export interface StrengthMeterProps {
  readonly passphrase: string;
  /** Estimate of {@link useStrength}. */
  readonly level: Strength;
  /** Least level that the vault accepts. */
  readonly least: typeof requiredStrength | typeof chosenStrength;
}

/**
 * Null for empty input and before the first estimate. `unknown` if the dictionaries could not be
 * loaded.
 */
export type Strength = StrengthLevel | "unknown" | null;

const levels = [1, 2, 3, 4] as const;

/** Shows how hard a passphrase or password is to guess, and what the vault will not accept. */
export function StrengthMeter({ passphrase, level, least }: StrengthMeterProps) {
  const { t } = useTranslation("common");
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
        {typeof level === "number" &&
          passphrase !== "" &&
          level < requiredStrength &&
          t(level < least ? "strength.refused_hint" : "strength.advice_hint")}
      </SmallText>
    </Box>
  );
}

/** Estimates a passphrase or password while the person types. Loads nothing for empty input. */
export function useStrength(passphrase: string): Strength {
  const deferredPassphrase = useDeferredValue(passphrase);
  const [level, setLevel] = useState<Strength>(null);
  useEffect(() => {
    if (deferredPassphrase === "") return undefined;
    let isCurrent = true;
    estimateStrength(deferredPassphrase).then(
      (estimate) => {
        if (isCurrent) setLevel(estimate);
      },
      () => {
        if (isCurrent) setLevel("unknown");
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [deferredPassphrase]);
  return passphrase === "" ? null : level;
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
