import { usePortal } from "@relicario/shared/contract";
import { useEffect } from "react";
import { useBlocker } from "react-router-dom";

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
  const blocker = useBlocker(({ currentLocation, nextLocation }) => guarding && currentLocation.pathname !== nextLocation.pathname);

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

  useEffect(() => {
    if (blocker.state !== "blocked") return;
    void confirm({ title, description: body, confirmLabel: leave, cancelLabel: stay, alert: true }).then((going) => {
      if (going) blocker.proceed();
      else blocker.reset();
    });
  }, [blocker, confirm, title, body, leave, stay]);
  return null;
}
