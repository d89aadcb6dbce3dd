/** A frame on a picture: sides in parts of its width and height, as seen. */
export interface Frame {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}
export type Side = keyof Frame;

export const sides: readonly Side[] = ["left", "top", "right", "bottom"];
export const wholeFrame: Frame = { left: 0, right: 1, top: 0, bottom: 1 };

/** A frame keeps at least this part of the width and of the height. */
const leastPart = 0.1;
const opposite: Readonly<Record<Side, Side>> = { left: "right", right: "left", top: "bottom", bottom: "top" };

/** Moves a side, not beyond the picture and not past the opposite side. */
export function moveSide(frame: Frame, side: Side, to: number): Frame {
  const first = side === "left" || side === "top";
  const limit = frame[opposite[side]] + (first ? -leastPart : leastPart);
  return { ...frame, [side]: first ? Math.min(Math.max(to, 0), limit) : Math.max(Math.min(to, 1), limit) };
}

/**
 * How far a key moves a side: half a percent, with shift five; null for a key that moves nothing
 * here.
 */
export function sideStep(side: Side, key: string, large: boolean): number | null {
  const [back, on] = side === "left" || side === "right" ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
  const step = large ? 0.05 : 0.005;
  return key === back ? -step : key === on ? step : null;
}
