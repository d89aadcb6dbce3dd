/** A frame on a picture: sides in parts of its width and height, as seen. */
export interface Frame {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}
export type Side = keyof Frame;

export const sides: readonly Side[] = ["left", "top", "right", "bottom"];
export const fullFrame: Frame = { left: 0, right: 1, top: 0, bottom: 1 };

/** A frame keeps at least this part of the width and of the height. */
const minimumExtent = 0.1;
const opposite: Readonly<Record<Side, Side>> = { left: "right", right: "left", top: "bottom", bottom: "top" };

/** Moves a side, not beyond the picture and not past the opposite side. */
export function moveSide(frame: Frame, side: Side, position: number): Frame {
  const isStart = side === "left" || side === "top";
  const limit = frame[opposite[side]] + (isStart ? -minimumExtent : minimumExtent);
  return {
    ...frame,
    [side]: isStart ? Math.min(Math.max(position, 0), limit) : Math.max(Math.min(position, 1), limit),
  };
}

/**
 * How far a key moves a side: half a percent, with shift five; null for a key that moves nothing
 * here.
 */
export function sideStep(side: Side, key: string, large: boolean): number | null {
  const [decreaseKey, increaseKey] =
    side === "left" || side === "right" ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
  const step = large ? 0.05 : 0.005;
  return key === decreaseKey ? -step : key === increaseKey ? step : null;
}
