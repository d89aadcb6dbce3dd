import type { Deployment } from "@relicario/shared/contract";
import { z } from "zod";
import { createStore } from "zustand/vanilla";

/** Session storage key of the flags that a developer changed. */
export const flagsKey = "featureFlags";

/** Feature flag that enables the debug page of flags in production. */
const debugFlag = "debug_flags";

type Flags = Readonly<Record<string, boolean>>;

/** The deployment's feature flags, with the changes made in this session. */
export interface FeatureFlags {
  readonly getState: () => Flags;
  readonly defaults: Flags;
  readonly switchableNames: readonly string[];
  /** Whether flags may be changed. If not, stored changes have no effect. */
  readonly switchable: boolean;
  readonly set: (name: string, enabled: boolean) => void;
  readonly reset: () => void;
  readonly subscribe: (listener: () => void) => () => void;
}

const StoredFlags = z.record(z.string(), z.boolean());

/**
 * Billing is shown only in the environment `dev` (specification, section 9), even if the deployment
 * or a developer sets the flag.
 */
const billingFlag = "billing";

export function createFeatureFlags(
  deployment: Pick<Deployment, "environment" | "features">,
  storage: Pick<Storage, "getItem" | "setItem" | "removeItem">,
): FeatureFlags {
  const defaults: Flags = Object.freeze({
    ...deployment.features,
    [billingFlag]: deployment.environment === "dev",
  });
  const switchable = deployment.environment !== "production" || deployment.features[debugFlag] === true;
  const switchableNames = Object.keys(defaults).filter((name) => switchable && name !== billingFlag);
  const store = createStore<Flags>(() => Object.freeze({ ...defaults, ...readStoredFlags(storage, switchableNames) }));

  return Object.freeze<FeatureFlags>({
    getState: store.getState,
    defaults,
    switchable,
    switchableNames,
    set: (name, enabled) => {
      if (!switchableNames.includes(name)) return;
      const flags = Object.freeze({ ...store.getState(), [name]: enabled });
      store.setState(flags, true);
      const changes = Object.fromEntries(Object.entries(flags).filter(([flag, value]) => defaults[flag] !== value));
      try {
        storage.setItem(flagsKey, JSON.stringify(changes));
      } catch {
        // Storage is full or forbidden: the change lasts until the page reloads.
      }
    },
    reset: () => {
      storage.removeItem(flagsKey);
      store.setState(defaults, true);
    },
    subscribe: store.subscribe,
  });
}

function readStoredFlags(storage: Pick<Storage, "getItem">, names: readonly string[]): Flags {
  try {
    const stored = StoredFlags.parse(JSON.parse(storage.getItem(flagsKey) ?? "{}"));
    return Object.fromEntries(Object.entries(stored).filter(([name]) => names.includes(name)));
  } catch {
    return {}; // storage is forbidden or its value unreadable: no changes
  }
}
