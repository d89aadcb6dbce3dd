/** Local storage key: this browser has seen the landing page (specification, section 2). */
export const landingKey = "landingAlreadyVisited";

/** Without storage the page is simply shown again next time. */
export function rememberLanding(storage: Pick<Storage, "setItem">): void {
  try {
    storage.setItem(landingKey, "true");
  } catch {
    // Storage is full or forbidden: nothing is lost but a repetition.
  }
}
