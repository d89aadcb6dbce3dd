import { useEffect } from "react";

import { useLeaveGuard } from "../contract/leaving.ts";
import { usePortal } from "../contract/portal.ts";

export interface LeaveGuardProps {
  readonly active: boolean;
  /** Texts of the confirmation dialog: title, explanation and both buttons. */
  readonly title: string;
  readonly body: string;
  readonly leaveLabel: string;
  readonly stayLabel: string;
  /** Paths that lose nothing, such as the next screen of the same flow. */
  readonly isExempt?: (pathname: string) => boolean;
}

/**
 * While `active`, asks before leaving: on navigation with the portal's dialog, on closing the tab
 * with the browser's.
 */
export function LeaveGuard({ active, title, body, leaveLabel, stayLabel, isExempt }: LeaveGuardProps) {
  const { confirm } = usePortal();
  useLeaveGuard(
    active,
    async (pathname) =>
      isExempt?.(pathname) === true ||
      confirm({
        title,
        description: body,
        confirmLabel: leaveLabel,
        cancelLabel: stayLabel,
        alert: true,
        danger: true,
      }),
  );

  useEffect(() => {
    if (!active) return undefined;
    const preventUnload = (event: BeforeUnloadEvent) => {
      event.preventDefault();
    };
    window.addEventListener("beforeunload", preventUnload);
    return () => {
      window.removeEventListener("beforeunload", preventUnload);
    };
  }, [active]);
  return null;
}
