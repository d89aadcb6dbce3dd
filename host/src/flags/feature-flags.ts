import type { Deployment } from "@relicario/shared/contract";
import { z } from "zod";
import { createStore } from "zustand/vanilla";

/** Session storage key of the flags that were switched by hand. */
export const flagsKey = "featureFlags";

/** The flag that opens the screen of flags where the environment is production. */
export const debugFlag = "debug_flags";

export type Flags = Readonly<Record<string, boolean>>;

/** What is switched on: as the deployment says, with what was switched by hand in this session. */
export interface FeatureFlags {
  readonly getState: () => Flags;
  /** What the deployment says. */
  readonly base: Flags;
  /** Whether flags may be switched by hand; elsewhere nothing that storage holds counts. */
  readonly switchable: boolean;
  readonly set: (name: string, on: boolean) => void;
  /** Back to what the deployment says. */
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
        // Storage is full or forbidden: the flags hold as long as the page.
      }
    },
    reset: () => {
      storage.removeItem(flagsKey);
      store.setState(base, true);
    },
    subscribe: store.subscribe,
  });
}

/** Only flags that the deployment has: one that it dropped is forgotten. */
function storedFlags(storage: Pick<Storage, "getItem">, base: Flags): Flags {
  try {
    const stored = Stored.parse(JSON.parse(storage.getItem(flagsKey) ?? "{}"));
    return Object.fromEntries(Object.entries(stored).filter(([name]) => Object.hasOwn(base, name)));
  } catch {
    return {}; // storage is forbidden or holds nonsense: the deployment's word counts
  }
}
