import { s, space } from "@relicario/shared/ui";
import { useId, type ReactNode } from "react";
import { styled } from "styled-components";

interface UsageBarProps {
  readonly label: string;
  readonly used: number;
  readonly quota: number;
  /** Displayed text, such as `1.5 MB of 10 GB`. */
  readonly children: ReactNode;
}

/** Fraction of the quota from which on the bar shows a warning. */
const nearlyFullFraction = 0.9;

export function UsageBar({ label, used, quota, children }: UsageBarProps) {
  const id = useId();
  const usedFraction = quota === 0 ? 1 : Math.min(1, used / quota);
  return (
    <Box>
      <Header>
        <span id={id}>{label}</span>
        <span id={`${id}-numbers`}>{children}</span>
      </Header>
      <Track
        role="meter"
        aria-labelledby={id}
        aria-describedby={`${id}-numbers`}
        aria-valuemin={0}
        aria-valuemax={quota}
        aria-valuenow={Math.min(used, quota)}
      >
        <Fill data-full={usedFraction >= nearlyFullFraction} style={{ transform: `scaleX(${String(usedFraction)})` }} />
      </Track>
    </Box>
  );
}

const Box = styled.div`
  display: flex;
  flex-direction: column;
  gap: ${space(2)};
`;

const Header = styled.div`
  display: flex;
  flex-wrap: wrap;
  justify-content: space-between;
  gap: ${space(1)} ${space(3)};
  & > span:first-child {
    font-weight: 600;
  }
`;

const Track = styled.div`
  height: 10px;
  border: 1px solid ${s("borderStrong")};
  border-radius: ${s("radiusRound")};
  background: ${s("surfaceSunken")};
  overflow: hidden;
`;

const Fill = styled.div`
  height: 100%;
  background: ${s("accent")};
  transform-origin: left;
  &[data-full="true"] {
    background: ${s("danger")};
  }
`;
