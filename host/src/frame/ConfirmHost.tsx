import { ConfirmDialog } from "@relicario/shared/ui";
import { useSyncExternalStore } from "react";

import type { Confirms } from "./confirms.ts";

/** Shows the question that waits. */
export function ConfirmHost({ confirms }: { readonly confirms: Confirms }) {
  const open = useSyncExternalStore(confirms.subscribe, confirms.getState);
  if (open === null) return null;
  return <ConfirmDialog open {...open.request} onAnswer={open.answer} />;
}
