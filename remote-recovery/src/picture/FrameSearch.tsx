import type { SearchHint } from "@relicario/vault/element-protocol";
import { Button, s, SmallText, space, SpacedRow, Stack } from "@relicario/shared/ui";
import { useId, useRef, useState, type KeyboardEvent, type PointerEvent } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { usePreviewUrl } from "./usePreviewUrl.ts";
import { moveSide, sides, getSideStep, fullFrame, type Frame, type Side } from "./frame.ts";

interface FrameSearchProps {
  readonly picture: Blob;
  /** The last search, which found nothing; null before the first. */
  readonly previousHint?: SearchHint | null;
  readonly disabled: boolean;
  readonly onSearch: (hint: SearchHint) => void;
}

/**
 * Searches for a picture inside another one, such as a screenshot. Searches everywhere, or within a
 * frame that the person draws.
 */
export function FrameSearch({ picture, previousHint = null, disabled, onSearch }: FrameSearchProps) {
  const { t } = useTranslation("image-recovery");
  const titleId = useId();
  const previewUrl = usePreviewUrl(picture);
  const [frame, setFrame] = useState<Frame>(previousHint?.kind === "frame" ? previousHint : fullFrame);
  const [pictureVisible, setPictureVisible] = useState(true);
  const [framedPicture, setFramedPicture] = useState(picture);
  if (framedPicture !== picture) {
    setFramedPicture(picture); // another picture starts with the full frame
    setFrame(fullFrame);
    setPictureVisible(true);
  }

  return (
    <Stack $gap={4} role="group" aria-labelledby={titleId}>
      <Stack $gap={1}>
        <Title id={titleId}>{t("frame.title")}</Title>
        <SmallText>{t("frame.body")}</SmallText>
      </Stack>
      {previewUrl !== null && pictureVisible && (
        <Canvas>
          <Picture
            src={previewUrl}
            alt={t("frame.picture_aria")}
            draggable={false}
            onError={() => {
              setPictureVisible(false);
            }}
          />
          <FrameOutline
            style={{
              left: toPercent(frame.left),
              right: toPercent(1 - frame.right),
              top: toPercent(frame.top),
              bottom: toPercent(1 - frame.bottom),
            }}
          />
          {sides.map((side) => (
            <FrameHandle
              key={side}
              side={side}
              frame={frame}
              disabled={disabled}
              onMove={(position) => {
                setFrame((previous) => moveSide(previous, side, position));
              }}
            />
          ))}
        </Canvas>
      )}
      <SpacedRow>
        <Button
          tone="quiet"
          disabled={disabled}
          onClick={() => {
            onSearch({ kind: "screenshot" });
          }}
        >
          {t("frame.screenshot_action")}
        </Button>
        {pictureVisible && (
          <Button
            tone="quiet"
            disabled={disabled || frame === fullFrame}
            onClick={() => {
              onSearch({ kind: "frame", ...frame });
            }}
          >
            {t("frame.search_action")}
          </Button>
        )}
      </SpacedRow>
    </Stack>
  );
}

interface FrameHandleProps {
  readonly side: Side;
  readonly frame: Frame;
  readonly disabled: boolean;
  /** Receives a fraction of the width or height. */
  readonly onMove: (position: number) => void;
}

/** A side of the frame: dragged, or moved with the arrow keys (with Shift in larger steps). */
function FrameHandle({ side, frame, disabled, onMove }: FrameHandleProps) {
  const { t } = useTranslation("image-recovery");
  const element = useRef<HTMLDivElement>(null);
  const isHorizontal = side === "left" || side === "right";

  const handleKeyDown = (event: KeyboardEvent) => {
    const step = getSideStep(side, event.key, event.shiftKey);
    if (step === null || disabled) return;
    event.preventDefault();
    onMove(frame[side] + step);
  };
  const handlePointerDown = (event: PointerEvent) => {
    if (!disabled) event.currentTarget.setPointerCapture(event.pointerId);
  };
  const handlePointerMove = (event: PointerEvent) => {
    const canvas = element.current?.parentElement?.getBoundingClientRect();
    if (canvas === undefined || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
    onMove(isHorizontal ? (event.clientX - canvas.left) / canvas.width : (event.clientY - canvas.top) / canvas.height);
  };
  const center = isHorizontal ? (frame.top + frame.bottom) / 2 : (frame.left + frame.right) / 2;
  const percent = Math.round(frame[side] * 1000) / 10;

  return (
    <Grip
      ref={element}
      role="slider"
      tabIndex={disabled ? -1 : 0}
      aria-label={t(`frame.${side}_aria`)}
      aria-orientation={isHorizontal ? "horizontal" : "vertical"}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
      aria-valuetext={t("frame.value_aria", { percent })}
      aria-disabled={disabled}
      $horizontal={isHorizontal}
      style={
        isHorizontal
          ? { left: toPercent(frame[side]), top: toPercent(center) }
          : { top: toPercent(frame[side]), left: toPercent(center) }
      }
      onKeyDown={handleKeyDown}
      onPointerDown={handlePointerDown}
      onPointerMove={handlePointerMove}
    />
  );
}

const toPercent = (fraction: number): string => `${String(fraction * 100)}%`;

const Title = styled.strong`
  font-weight: 600;
`;

const Canvas = styled.div`
  position: relative;
  width: fit-content;
  max-width: 100%;
  margin: ${space(2)};
  overflow: visible;
  touch-action: none;
  -webkit-user-select: none;
  user-select: none;
`;

const Picture = styled.img`
  display: block;
  max-width: 100%;
  max-height: 420px;
  border-radius: ${s("radiusSmall")};
`;

const FrameOutline = styled.div`
  position: absolute;
  border: 2px solid ${s("accent")};
  box-shadow:
    0 0 0 1px ${s("surface")},
    inset 0 0 0 1px ${s("surface")};
  pointer-events: none;
`;

const Grip = styled.div<{ $horizontal: boolean }>`
  position: absolute;
  width: ${({ $horizontal }) => ($horizontal ? "14px" : "44px")};
  height: ${({ $horizontal }) => ($horizontal ? "44px" : "14px")};
  transform: translate(-50%, -50%);
  border: 2px solid ${s("surface")};
  border-radius: 7px;
  background: ${s("accent")};
  cursor: ${({ $horizontal }) => ($horizontal ? "ew-resize" : "ns-resize")};
  &:focus-visible {
    outline: 2px solid ${s("focus")};
    outline-offset: 2px;
  }
  &[aria-disabled="true"] {
    opacity: 0.5;
    cursor: default;
  }
`;
