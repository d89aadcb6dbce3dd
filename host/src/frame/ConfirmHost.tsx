import { ConfirmDialog } from "@relicario/shared/ui";
import { useState, useSyncExternalStore } from "react";

import type { Confirms } from "./confirms.ts";

/** Shows the question that waits. */
export function ConfirmHost({ confirms }: { readonly confirms: Confirms }) {
  const waiting = useSyncExternalStore(confirms.subscribe, confirms.getState);
  const [last, setLast] = useState(waiting);
  if (waiting !== null && waiting !== last) setLast(waiting);
  const shown = waiting ?? last; // an answered one stays, closed, while its shade fades
  return shown !== null && <ConfirmDialog open={waiting !== null} {...shown.request} onAnswer={shown.answer} />;
}
