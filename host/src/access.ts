import type { Place } from "./places.ts";

/** Local storage flag of a visitor who has seen the landing page. */
export const landingVisitedKey = "landingAlreadyVisited";

/** What happens to a visitor at a place (specification, section 2). */
export type Admission = "show" | "sign_in" | "landing";

export function admit(place: Place, visitor: { readonly signedIn: boolean; readonly landingVisited: boolean }): Admission {
  if (visitor.signedIn || place.access === "public") return "show";
  return place.access === "guarded" && !visitor.landingVisited ? "landing" : "sign_in";
}
