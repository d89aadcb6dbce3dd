import type { ConfirmOptions, ServiceDialogProps } from "@relicario/shared/contract";
import { ConfirmDialog } from "@relicario/shared/ui";
import { Suspense, useState, useSyncExternalStore, type ComponentType } from "react";
import { ErrorBoundary } from "react-error-boundary";

import type { DialogQueue } from "./dialog-queue.ts";

/** Questions of the portal and its remotes. */
export type ConfirmQueue = DialogQueue<ConfirmOptions, boolean>;

/** Dialogs that a service brings. */
export type ServiceDialogs = DialogQueue<ComponentType<ServiceDialogProps>, void>;

export function ConfirmHost({ confirmQueue }: { readonly confirmQueue: ConfirmQueue }) {
  const pending = useSyncExternalStore(confirmQueue.subscribe, confirmQueue.getState);
  const [lastConfirm, setLastConfirm] = useState(pending);
  if (pending !== null && pending !== lastConfirm) setLastConfirm(pending);
  // the answered dialog stays mounted, closed, while its overlay fades
  const displayedConfirm = pending ?? lastConfirm;
  return (
    displayedConfirm !== null && (
      <ConfirmDialog open={pending !== null} {...displayedConfirm.request} onAnswer={displayedConfirm.answer} />
    )
  );
}

export function ServiceDialogHost({ serviceDialogs }: { readonly serviceDialogs: ServiceDialogs }) {
  const pending = useSyncExternalStore(serviceDialogs.subscribe, serviceDialogs.getState);
  if (pending === null) return null;
  const { request: ServiceDialog, answer } = pending;
  return (
    <ErrorBoundary
      fallback={null}
      resetKeys={[pending]}
      onError={() => {
        answer();
      }}
    >
      <Suspense fallback={null}>
        <ServiceDialog
          onClose={() => {
            answer();
          }}
        />
      </Suspense>
    </ErrorBoundary>
  );
}
