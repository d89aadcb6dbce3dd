import type { Notice } from "@relicario/shared/contract";
import { createLater } from "@relicario/shared/ui";
import { useSyncExternalStore } from "react";

/** What draws toasts is fetched once somebody touches the page, or with the first toast. */
export const toasts = createLater(() => import("./ToastList.tsx"));

/** Grows when toasts are cleared, so that one whose code is still on its way does not come after all. */
let round = 0;

/** Shows a notice. */
export function showToast(notice: Notice): void {
  const mine = round;
  toasts.load().then(
    ({ addToast }) => {
      if (mine === round) addToast(notice);
    },
    () => {
      // The portal is out of reach. A failure must be said all the same; that something was done can be seen on the page.
      if (mine === round && notice.tone === "error") window.alert(notice.text);
    },
  );
}

/** Takes away what is shown, at sign-out: a toast may name a secret. */
export function clearToasts(): void {
  round += 1;
  toasts.get()?.removeToasts();
}

/** The place of the toasts. */
export function Toasts() {
  const parts = useSyncExternalStore(toasts.subscribe, toasts.get);
  return parts !== null && <parts.ToastList />;
}
