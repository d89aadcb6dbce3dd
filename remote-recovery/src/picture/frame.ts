/** A frame on a picture: sides as fractions of the displayed width and height. */
export interface Frame {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}
export type Side = keyof Frame;

export const sides: readonly Side[] = ["left", "top", "right", "bottom"];
export const fullFrame: Frame = { left: 0, right: 1, top: 0, bottom: 1 };

/** Minimum width and height of a frame, as a fraction. */
const minimumExtent = 0.1;
const opposite: Readonly<Record<Side, Side>> = { left: "right", right: "left", top: "bottom", bottom: "top" };

/** Moves a side within the picture, and not past the opposite side. */
export function moveSide(frame: Frame, side: Side, position: number): Frame {
  const isStart = side === "left" || side === "top";
  const limit = frame[opposite[side]] + (isStart ? -minimumExtent : minimumExtent);
  return {
    ...frame,
    [side]: isStart ? Math.min(Math.max(position, 0), limit) : Math.max(Math.min(position, 1), limit),
  };
}

/** Step of a key as a fraction: 0.005, with Shift 0.05; null for other keys. */
export function getSideStep(side: Side, key: string, largeStep: boolean): number | null {
  const [decreaseKey, increaseKey] =
    side === "left" || side === "right" ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
  const step = largeStep ? 0.05 : 0.005;
  return key === decreaseKey ? -step : key === increaseKey ? step : null;
}
