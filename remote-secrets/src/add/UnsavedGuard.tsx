import { usePortal } from "@relicario/shared/contract";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import { useBlocker } from "react-router-dom";

interface UnsavedGuardProps {
  /** Something was typed. */
  readonly dirty: boolean;
  /** Set once all is saved: leaving is free, and goes there. */
  readonly saved: { readonly path: string } | null;
  readonly onLeave: (path: string) => void;
}

/** Asks before something typed is lost: inside the portal with its own dialog, at closing the page with the browser's. */
export function UnsavedGuard({ dirty, saved, onLeave }: UnsavedGuardProps) {
  const { t } = useTranslation("beta-add-secret");
  const { confirm } = usePortal();
  const guarding = dirty && saved === null;
  const blocker = useBlocker(({ currentLocation, nextLocation }) => guarding && currentLocation.pathname !== nextLocation.pathname);

  useEffect(() => {
    if (saved !== null) onLeave(saved.path);
  }, [saved, onLeave]);

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
    void confirm({ title: t("leave.confirm_title"), description: t("leave.confirm_body"), confirmLabel: t("leave.confirm_action"), cancelLabel: t("leave.stay_action"), alert: true }).then(
      (leave) => {
        if (leave) blocker.proceed();
        else blocker.reset();
      },
    );
  }, [blocker, confirm, t]);
  return null;
}
