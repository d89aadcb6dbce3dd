import { z } from "zod";

/** Local storage: the first tour was finished or skipped (specification, section 3). */
export const onboardingKey = "onboarding";

/**
 * Local storage: names of the tours of screens that were shown, or `all` once the person skipped
 * one.
 */
export const toursSeenKey = "toursSeen";

const Seen = z.union([z.literal("all"), z.array(z.string().max(100)).max(200)]);

/**
 * What this browser stores about onboarding and tours. Where storage is forbidden nothing is
 * stored, and tours are offered again.
 */
export interface TourStorage {
  readonly onboarded: () => boolean;
  readonly setOnboarded: () => void;
  readonly seen: (name: string) => boolean;
  readonly setSeen: (name: string) => void;
  /** A person who skips a tour is offered no others. */
  readonly setAllSeen: () => void;
  /** Offers a tour again. */
  readonly forget: (name: string) => void;
}

/**
 * @param storage called for each access, because a browser that forbids storage throws on reading
 *   `localStorage`
 */
export function createTourStorage(storage: () => Storage): TourStorage {
  const read = (key: string): string | null => {
    try {
      return storage().getItem(key);
    } catch {
      return null; // storage is forbidden
    }
  };
  const write = (key: string, value: string): void => {
    try {
      storage().setItem(key, value);
    } catch {
      // Storage is full or forbidden: the tour will be offered once more, and can be skipped.
    }
  };
  const readSeen = (): z.infer<typeof Seen> => {
    try {
      return Seen.parse(JSON.parse(read(toursSeenKey) ?? "[]"));
    } catch {
      return []; // another format
    }
  };
  const asked = new Set<string>();

  return Object.freeze<TourStorage>({
    onboarded: () => read(onboardingKey) === "true",
    setOnboarded: () => {
      write(onboardingKey, "true");
    },
    seen: (name) => {
      const seen = readSeen();
      return !asked.has(name) && (seen === "all" || seen.includes(name));
    },
    setSeen: (name) => {
      asked.delete(name);
      const seen = readSeen();
      if (seen !== "all" && !seen.includes(name)) write(toursSeenKey, JSON.stringify([...seen, name]));
    },
    setAllSeen: () => {
      asked.clear();
      write(toursSeenKey, JSON.stringify("all"));
    },
    forget: (name) => {
      asked.add(name);
    },
  });
}
