import { Button, type ButtonProps } from "@relicario/shared/ui";
import { createContext, useContext, type MouseEvent } from "react";

/** Milliseconds for which an element is in sight before a press in it counts. */
export const sightMilliseconds = 500;

export interface PressGuard {
  /** Milliseconds of the document's clock; null while the element is not in sight. */
  readonly inSightSince: number | null;
  /** Whether it has been in sight for long enough. */
  readonly isReady: boolean;
  readonly onPress: (isCounted: boolean) => void;
}

/** Null outside an element of the vault. */
export const PressGuardContext = createContext<PressGuard | null>(null);

/**
 * Button for what a page must not bring a person to press by accident. In an element of the vault a
 * press counts only when it is trusted and the element has been in sight for half a second.
 */
export function GuardedButton({ onClick, ...rest }: ButtonProps) {
  const guard = useContext(PressGuardContext);
  const handleClick = (event: MouseEvent<HTMLButtonElement>) => {
    const isCounted = guard === null || countsPress(event, guard);
    guard?.onPress(isCounted);
    if (isCounted) onClick?.(event);
  };
  return <Button {...rest} aria-disabled={guard?.isReady === false || undefined} onClick={handleClick} />;
}

/** Compares the time of the press itself, so that a slow device does not refuse an honest one. */
export function countsPress(
  { isTrusted, timeStamp }: Pick<MouseEvent, "isTrusted" | "timeStamp">,
  { inSightSince }: Pick<PressGuard, "inSightSince">,
): boolean {
  return isTrusted && inSightSince !== null && timeStamp - inSightSince >= sightMilliseconds;
}
