import type { Deployment } from "@relicario/shared/contract";
import { z } from "zod";

/** Session storage key of the flags that were switched by hand. */
export const flagsKey = "featureFlags";

/** The flag that opens the screen of flags where the environment is production. */
export const debugFlag = "debug_flags";

export type Flags = Readonly<Record<string, boolean>>;

/** What is switched on: as the deployment says, with what was switched by hand in this session. */
export interface FeatureFlags {
  readonly get: () => Flags;
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
  const listeners = new Set<() => void>();
  let flags = switchable ? Object.freeze({ ...base, ...storedFlags(storage, base) }) : base;

  const become = (next: Flags) => {
    flags = Object.freeze(next);
    for (const listener of [...listeners]) listener();
  };

  return Object.freeze<FeatureFlags>({
    get: () => flags,
    base,
    switchable,
    set: (name, on) => {
      if (!switchable || !Object.hasOwn(base, name)) return;
      become({ ...flags, [name]: on });
      const switched = Object.fromEntries(Object.entries(flags).filter(([each, value]) => base[each] !== value));
      try {
        storage.setItem(flagsKey, JSON.stringify(switched));
      } catch {
        // Storage is full or forbidden: the flags hold as long as the page.
      }
    },
    reset: () => {
      storage.removeItem(flagsKey);
      become(base);
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
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
