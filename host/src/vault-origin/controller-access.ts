import type { Deployment, Drives, ReleaseRecord } from "@relicario/shared/contract";

/** What a document of the vault's origin gets from the controller. */
export interface ElementConnection {
  /** To the controller; created inside the vault's origin. */
  readonly port: MessagePort;
  /** The verified release that brings the vault. */
  readonly record: ReleaseRecord;
  readonly branding: Deployment["branding"];
  readonly drives: Drives;
}

export interface ControllerAccess {
  /** Rejects as the controller's start does. */
  readonly connect: () => Promise<ElementConnection>;
}

/** A window that frames documents of several origins. */
export interface FramingWindow {
  readonly length: number;
  readonly [index: number]: unknown;
}

/**
 * Finds the controller among the frames of the portal's page. Only documents of the vault's origin
 * can read or set the marker: access to a frame of another origin throws.
 */
export function findController(framingWindow: FramingWindow): ControllerAccess | null {
  // only length and indices can be read of a window of another origin
  for (const index of Array.from({ length: framingWindow.length }).keys()) {
    try {
      const { relicarioController } = framingWindow[index] as { readonly relicarioController?: ControllerAccess };
      if (relicarioController !== undefined) return relicarioController;
    } catch {
      // a frame of another origin, such as the portal's or the identity provider's
    }
  }
  return null;
}
