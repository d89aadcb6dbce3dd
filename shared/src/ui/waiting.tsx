import { useId, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { keyframes, styled } from "styled-components";

import { VisuallyHidden } from "./layout.tsx";
import { s, space } from "./tokens.ts";

export interface SkeletonProps {
  /** CSS lengths of the content that the bar replaces. */
  readonly width?: string;
  readonly height: string;
}

/** Grey bar in place of loading content. */
export function Skeleton({ width = "100%", height }: SkeletonProps) {
  return <Bar aria-hidden $width={width} $height={height} />;
}

/** Wraps skeletons and announces that something is loading. */
export function Loading({ label, children }: { readonly label: string; readonly children?: ReactNode }) {
  return (
    <div role="status" aria-busy>
      <VisuallyHidden>{label}</VisuallyHidden>
      {children}
    </div>
  );
}

export interface ProgressProps {
  /** Translated name of the operation. */
  readonly label: string;
  readonly done: number;
  /** 0 while the total is unknown. */
  readonly total: number;
}

/** Percent between announcements to screen readers. */
const announcedStepPercent = 10;

export function Progress({ label, done, total }: ProgressProps) {
  const { t } = useTranslation("common");
  const id = useId();
  const percent = total > 0 ? Math.min(100, Math.floor((100 * done) / total)) : null;
  const announcedPercent = percent === null ? null : Math.floor(percent / announcedStepPercent) * announcedStepPercent;
  return (
    <ProgressBox>
      <ProgressHead>
        <span id={id}>{label}</span>
        {percent !== null && <span aria-hidden>{t("progress.percent_body", { percent })}</span>}
      </ProgressHead>
      <Track
        role="progressbar"
        aria-labelledby={id}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent ?? undefined}
      >
        <Fill
          data-unknown={percent === null}
          style={{ transform: percent === null ? undefined : `scaleX(${String(percent / 100)})` }}
        />
      </Track>
      <VisuallyHidden role="status">
        {announcedPercent === null ? label : t("progress.spoken_status", { label, percent: announcedPercent })}
      </VisuallyHidden>
    </ProgressBox>
  );
}

export interface EmptyStateProps {
  readonly icon?: ReactNode;
  readonly title: string;
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
}

/** Replaces an empty list. Says what the list is for, and offers the first step. */
export function EmptyState({ icon, title, children, actions }: EmptyStateProps) {
  return (
    <EmptyBox>
      {icon !== undefined && <EmptyIcon aria-hidden>{icon}</EmptyIcon>}
      <EmptyTitle>{title}</EmptyTitle>
      {children}
      {actions !== undefined && <EmptyActions>{actions}</EmptyActions>}
    </EmptyBox>
  );
}

const pulse = keyframes`
  50% { opacity: 0.35; }
`;

const Bar = styled.div<{ readonly $width: string; readonly $height: string }>`
  width: ${({ $width }) => $width};
  max-width: 100%;
  height: ${({ $height }) => $height};
  border-radius: ${s("radius")};
  background: ${s("border")};
  opacity: 0.65;
  animation: ${pulse} 1.6s ease-in-out infinite;
`;

const ProgressBox = styled.div`
  display: flex;
  flex-direction: column;
  gap: ${space(2)};
`;

const ProgressHead = styled.div`
  display: flex;
  justify-content: space-between;
  gap: ${space(3)};
  font-size: ${s("textSmall")};
  color: ${s("textMuted")};
`;

const Track = styled.div`
  height: 8px;
  border-radius: ${s("radiusRound")};
  background: ${s("border")};
  overflow: hidden;
`;

const slide = keyframes`
  from { transform: translateX(-100%) scaleX(0.4); }
  to { transform: translateX(100%) scaleX(0.4); }
`;

const Fill = styled.div`
  height: 100%;
  background: ${s("accent")};
  transform-origin: left;
  transition: transform 160ms linear;
  &[data-unknown="true"] {
    animation: ${slide} 1.4s ease-in-out infinite;
  }
`;

const EmptyBox = styled.div`
  display: flex;
  flex-direction: column;
  align-items: center;
  gap: ${space(3)};
  padding: ${space(12)} ${space(4)};
  border: 1px dashed ${s("border")};
  border-radius: ${s("radius")};
  text-align: center;
  & p {
    color: ${s("textMuted")};
    max-width: 52ch;
  }
`;

const EmptyIcon = styled.div`
  display: grid;
  place-items: center;
  width: 56px;
  height: 56px;
  border-radius: 50%;
  background: ${s("accentSoft")};
  color: ${s("accentText")};
  & > svg {
    width: 26px;
    height: 26px;
  }
`;

const EmptyTitle = styled.h2`
  font-size: ${s("textLarge")};
`;

const EmptyActions = styled.div`
  display: flex;
  flex-wrap: wrap;
  justify-content: center;
  gap: ${space(3)};
  margin-top: ${space(2)};
`;
