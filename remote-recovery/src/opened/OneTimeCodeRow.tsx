import { computeOneTimeCode, countPeriods, formatOneTimeCode, type OneTimeCodeSettings } from "@relicario/shared/api";
import { Button, s, SmallText } from "@relicario/shared/ui";
import { SkipForward } from "lucide-react";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { CopySecretButton } from "./CopySecretButton.tsx";
import { useReveal } from "./useReveal.ts";
import { FieldRow, HiddenValue, RevealButton } from "./FieldRow.tsx";

interface OneTimeCodeRowProps {
  readonly label: string;
  readonly settings: OneTimeCodeSettings;
}

/**
 * Shows a one-time code: the present code with its remaining time, or the code of a counter. The
 * stored counter never changes. A person who has used codes steps forward here, and edits the
 * secret to start at a later counter (decision 0024).
 */
export function OneTimeCodeRow({ label, settings }: OneTimeCodeRowProps) {
  const { t } = useTranslation("common");
  const { revealed, setRevealed } = useReveal();
  const now = useNow();
  const [counterSteps, setCounterSteps] = useState(0);
  const isTimed = settings.kind === "totp";
  const counter = isTimed ? countPeriods(settings, now) : settings.counter + counterSteps;
  const code = useCode(settings, counter);
  const secondsLeft = settings.period - (Math.floor(now / 1000) % settings.period);
  return (
    <FieldRow
      label={label}
      value={
        revealed && code !== null ? (
          <>
            <Code data-state="shown" translate="no">
              {formatOneTimeCode(code)}
            </Code>
            {isTimed ? (
              <>
                <TimeBar aria-hidden>
                  <div style={{ width: `${String((secondsLeft / settings.period) * 100)}%` }} />
                </TimeBar>
                <SmallText>{t("record.seconds_left_body", { count: secondsLeft })}</SmallText>
              </>
            ) : (
              <SmallText>{t("record.counter_body", { number: counter, stored: settings.counter })}</SmallText>
            )}
          </>
        ) : (
          <HiddenValue />
        )
      }
      actions={
        <>
          <RevealButton revealed={revealed} onChange={setRevealed} />
          {code !== null && <CopySecretButton size="small" label={t("record.copy_code_action")} getText={() => code} />}
          {!isTimed && (
            <Button
              tone="quiet"
              size="small"
              icon={<SkipForward aria-hidden />}
              onClick={() => {
                setCounterSteps(counterSteps + 1);
              }}
            >
              {t("record.next_code_action")}
            </Button>
          )}
        </>
      }
    />
  );
}

/** Milliseconds since 1970 by the page's clock, updated every second. */
function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      setNow(Date.now());
    }, 1_000);
    return () => {
      clearInterval(timer);
    };
  }, []);
  return now;
}

/** Null until the code is computed. */
function useCode(settings: OneTimeCodeSettings, counter: number): string | null {
  const [computed, setComputed] = useState<{ readonly counter: number; readonly code: string } | null>(null);
  useEffect(() => {
    let isCurrent = true;
    void computeOneTimeCode(settings, counter).then((code) => {
      if (isCurrent) setComputed({ counter, code });
    });
    return () => {
      isCurrent = false;
    };
  }, [settings, counter]);
  return computed?.counter === counter ? computed.code : null;
}

const Code = styled.div`
  font-family: ${s("fontMono")};
  font-size: 1.6rem;
  letter-spacing: 0.04em;
  line-height: 1.3;
  overflow-wrap: anywhere;
`;

const TimeBar = styled.div`
  max-width: 12rem;
  height: 4px;
  border-radius: 2px;
  background: ${s("border")};
  & > div {
    height: 100%;
    border-radius: 2px;
    background: ${s("accent")};
  }
`;
