import { useLeaveGuard, usePortal } from "@relicario/shared/contract";
import { useEffect } from "react";

interface LeaveGuardProps {
  readonly guarding: boolean;
  /** The portal's question, its explanation, and both answers. */
  readonly title: string;
  readonly body: string;
  readonly leave: string;
  readonly stay: string;
}

/** Asks before something is lost: inside the portal with its own dialog, at closing the page with the browser's. */
export function LeaveGuard({ guarding, title, body, leave, stay }: LeaveGuardProps) {
  const { confirm } = usePortal();
  useLeaveGuard(guarding, () => confirm({ title, description: body, confirmLabel: leave, cancelLabel: stay, alert: true }));

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
