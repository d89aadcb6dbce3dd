import type { Deployment } from "@relicario/shared/contract";
import { z } from "zod";
import { createStore } from "zustand/vanilla";

/** Session storage key of the flags that a developer changed. */
export const flagsKey = "featureFlags";

/** The flag that enables the screen of flags in production. */
export const debugFlag = "debug_flags";

export type Flags = Readonly<Record<string, boolean>>;

/** Feature flags: those of the deployment, with the changes made in this session. */
export interface FeatureFlags {
  readonly getState: () => Flags;
  /** The flags of the deployment, without changes. */
  readonly base: Flags;
  /** Whether flags may be changed. If not, stored changes are ignored. */
  readonly switchable: boolean;
  readonly set: (name: string, on: boolean) => void;
  /** Drops all changes. */
  readonly reset: () => void;
  readonly subscribe: (listener: () => void) => () => void;
}

const Stored = z.record(z.string(), z.boolean());

/** Billing is shown only when the environment is `dev` (specification, section 9), whatever else the deployment says. */
export function createFeatureFlags(deployment: Pick<Deployment, "environment" | "features">, storage: Pick<Storage, "getItem" | "setItem" | "removeItem">): FeatureFlags {
  const base: Flags = Object.freeze({ ...deployment.features, billing: deployment.environment === "dev" });
  const switchable = deployment.environment !== "production" || deployment.features[debugFlag] === true;
  const store = createStore<Flags>(() => (switchable ? Object.freeze({ ...base, ...storedFlags(storage, base) }) : base));

  return Object.freeze<FeatureFlags>({
    getState: store.getState,
    base,
    switchable,
    set: (name, on) => {
      if (!switchable || !Object.hasOwn(base, name)) return;
      const flags = Object.freeze({ ...store.getState(), [name]: on });
      store.setState(flags, true);
      const switched = Object.fromEntries(Object.entries(flags).filter(([each, value]) => base[each] !== value));
      try {
        storage.setItem(flagsKey, JSON.stringify(switched));
      } catch {
        // Storage is full or forbidden: the change lasts until the page is reloaded.
      }
    },
    reset: () => {
      storage.removeItem(flagsKey);
      store.setState(base, true);
    },
    subscribe: store.subscribe,
  });
}

/** The stored changes, without flags that the deployment does not have any more. */
function storedFlags(storage: Pick<Storage, "getItem">, base: Flags): Flags {
  try {
    const stored = Stored.parse(JSON.parse(storage.getItem(flagsKey) ?? "{}"));
    return Object.fromEntries(Object.entries(stored).filter(([name]) => Object.hasOwn(base, name)));
  } catch {
    return {}; // storage is forbidden or has another format: no changes
  }
}
