import { useEffect } from "react";

import { useLeaveGuard } from "../contract/leave-guard.ts";
import { usePortal } from "../contract/portal.ts";

export interface LeaveGuardProps {
  readonly active: boolean;
  /** Texts of the confirmation dialog. */
  readonly title: string;
  readonly body: string;
  readonly leaveLabel: string;
  readonly stayLabel: string;
  /**
   * Whether a path may be left for without a question, such as the next screen of the same flow.
   */
  readonly isExempt?: (pathname: string) => boolean;
}

/**
 * Asks before leaving while `active`: in the portal's dialog on navigation, in the browser's dialog
 * on closing the tab.
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
