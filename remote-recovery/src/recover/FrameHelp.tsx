import type { SearchHint } from "@relicario/engine";
import { Button, s, SmallText, space, SpacedRow, Stack } from "@relicario/shared/ui";
import { useId, useRef, useState, type KeyboardEvent, type PointerEvent } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { usePreview } from "../picture/usePreview.ts";
import { moveSide, sides, sideStep, wholeFrame, type Frame, type Side } from "./frame.ts";

interface FrameHelpProps {
  readonly picture: Blob;
  /** Where it was searched last, in vain; null before. */
  readonly before?: SearchHint | null;
  readonly disabled: boolean;
  readonly onTry: (hint: SearchHint) => void;
}

/**
 * For a picture inside another one, such as a screenshot: searches inside it, or where the person
 * draws a frame.
 */
export function FrameHelp({ picture, before = null, disabled, onTry }: FrameHelpProps) {
  const { t } = useTranslation("image-recovery");
  const titleId = useId();
  const preview = usePreview(picture);
  const [frame, setFrame] = useState<Frame>(before?.kind === "frame" ? before : wholeFrame);
  const [visible, setVisible] = useState(true);
  const [of, setOf] = useState(picture);
  if (of !== picture) {
    setOf(picture); // another picture begins with the whole of it
    setFrame(wholeFrame);
    setVisible(true);
  }

  return (
    <Stack $gap={4} role="group" aria-labelledby={titleId}>
      <Stack $gap={1}>
        <Title id={titleId}>{t("frame.title")}</Title>
        <SmallText>{t("frame.body")}</SmallText>
      </Stack>
      {preview !== null && visible && (
        <Canvas>
          <Picture
            src={preview}
            alt={t("frame.picture_aria")}
            draggable={false}
            onError={() => {
              setVisible(false);
            }}
          />
          <Inside
            style={{
              left: part(frame.left),
              right: part(1 - frame.right),
              top: part(frame.top),
              bottom: part(1 - frame.bottom),
            }}
          />
          {sides.map((side) => (
            <Handle
              key={side}
              side={side}
              frame={frame}
              disabled={disabled}
              onMove={(to) => {
                setFrame((from) => moveSide(from, side, to));
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
            onTry({ kind: "screenshot" });
          }}
        >
          {t("frame.screenshot_action")}
        </Button>
        {visible && (
          <Button
            tone="quiet"
            disabled={disabled || frame === wholeFrame}
            onClick={() => {
              onTry({ kind: "frame", ...frame });
            }}
          >
            {t("frame.search_action")}
          </Button>
        )}
      </SpacedRow>
    </Stack>
  );
}

interface HandleProps {
  readonly side: Side;
  readonly frame: Frame;
  readonly disabled: boolean;
  /** To which part of the width or height. */
  readonly onMove: (to: number) => void;
}

/** One side of the frame: dragged, or moved with the arrow keys (with shift in larger steps). */
function Handle({ side, frame, disabled, onMove }: HandleProps) {
  const { t } = useTranslation("image-recovery");
  const element = useRef<HTMLDivElement>(null);
  const across = side === "left" || side === "right";

  const handleKeyDown = (event: KeyboardEvent) => {
    const step = sideStep(side, event.key, event.shiftKey);
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
    onMove(across ? (event.clientX - canvas.left) / canvas.width : (event.clientY - canvas.top) / canvas.height);
  };
  const middle = across ? (frame.top + frame.bottom) / 2 : (frame.left + frame.right) / 2;
  const percent = Math.round(frame[side] * 1000) / 10;

  return (
    <Grip
      ref={element}
      role="slider"
      tabIndex={disabled ? -1 : 0}
      aria-label={t(`frame.${side}_aria`)}
      aria-orientation={across ? "horizontal" : "vertical"}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
      aria-valuetext={t("frame.value_aria", { percent })}
      aria-disabled={disabled}
      $across={across}
      style={across ? { left: part(frame[side]), top: part(middle) } : { top: part(frame[side]), left: part(middle) }}
      onKeyDown={handleKeyDown}
      onPointerDown={handlePointerDown}
      onPointerMove={handlePointerMove}
    />
  );
}

const part = (share: number): string => `${String(share * 100)}%`;

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

const Inside = styled.div`
  position: absolute;
  border: 2px solid ${s("accent")};
  box-shadow:
    0 0 0 1px ${s("surface")},
    inset 0 0 0 1px ${s("surface")};
  pointer-events: none;
`;

const Grip = styled.div<{ $across: boolean }>`
  position: absolute;
  width: ${({ $across }) => ($across ? "14px" : "44px")};
  height: ${({ $across }) => ($across ? "44px" : "14px")};
  transform: translate(-50%, -50%);
  border: 2px solid ${s("surface")};
  border-radius: 7px;
  background: ${s("accent")};
  cursor: ${({ $across }) => ($across ? "ew-resize" : "ns-resize")};
  &:focus-visible {
    outline: 2px solid ${s("focus")};
    outline-offset: 2px;
  }
  &[aria-disabled="true"] {
    opacity: 0.5;
    cursor: default;
  }
`;
