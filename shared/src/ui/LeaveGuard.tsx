import { useEffect } from "react";

import { useLeaveGuard } from "../contract/leaving.ts";
import { usePortal } from "../contract/portal.ts";

export interface LeaveGuardProps {
  readonly guarding: boolean;
  /** Texts of the confirmation dialog: title, explanation and both buttons. */
  readonly title: string;
  readonly body: string;
  readonly leave: string;
  readonly stay: string;
  /** Paths that lose nothing, such as the next screen of the same flow. */
  readonly passes?: (pathname: string) => boolean;
}

/**
 * While `guarding`, asks before leaving: on navigation with the portal's dialog, on closing the tab
 * with the browser's.
 */
export function LeaveGuard({ guarding, title, body, leave, stay, passes }: LeaveGuardProps) {
  const { confirm } = usePortal();
  useLeaveGuard(
    guarding,
    async (pathname) =>
      passes?.(pathname) === true ||
      confirm({ title, description: body, confirmLabel: leave, cancelLabel: stay, alert: true, danger: true }),
  );

  useEffect(() => {
    if (!guarding) return undefined;
    const ask = (event: BeforeUnloadEvent) => {
      event.preventDefault();
    };
    window.addEventListener("beforeunload", ask);
    return () => {
      window.removeEventListener("beforeunload", ask);
    };
  }, [guarding]);
  return null;
}
