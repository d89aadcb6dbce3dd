/** What a person does first. Browsers tell of a pointer that rests on a new page, too: only one that moves counts. */
const touches = ["pointermove", "pointerdown", "keydown"] as const;

/** Calls back once, when somebody first uses the page. Returns its undo. */
export function whenTouched(page: EventTarget, callback: () => void): () => void {
  const undo = () => {
    for (const type of touches) page.removeEventListener(type, handle, { capture: true });
  };
  const handle = (event: Event) => {
    if (event instanceof MouseEvent && event.type === "pointermove" && event.movementX === 0 && event.movementY === 0) return;
    undo();
    callback();
  };
  for (const type of touches) page.addEventListener(type, handle, { capture: true, passive: true });
  return undo;
}
