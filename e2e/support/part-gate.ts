import type { Route } from "@playwright/test";

/** Lets this many of the page's parts through, and holds the others. */
export class PartGate {
  allowedPartCount = 0;
  heldRoutes: Route[] = [];

  async handle(route: Route): Promise<void> {
    if (route.request().method() !== "POST") return route.fallback();
    if (this.allowedPartCount === 0) {
      this.heldRoutes.push(route);
      return;
    }
    this.allowedPartCount--;
    await route.fallback();
  }

  async releaseHeld(): Promise<void> {
    const released = this.heldRoutes;
    this.heldRoutes = [];
    await Promise.all(released.map((route) => route.fallback()));
  }
}
