import { z } from "zod";

/** Local storage key: whether the first tour was finished or skipped (specification, section 3). */
export const onboardingKey = "onboarding";

/**
 * Local storage key: names of the screen tours already shown, or `all` once the person skipped one.
 */
export const toursSeenKey = "toursSeen";

const SeenTours = z.union([z.literal("all"), z.array(z.string().max(100)).max(200)]);

/**
 * Data that this browser stores about onboarding and tours. Where storage is forbidden, nothing is
 * stored and tours are offered again.
 */
export interface TourStorage {
  readonly isOnboarded: () => boolean;
  readonly setOnboarded: () => void;
  readonly hasSeen: (name: string) => boolean;
  readonly markSeen: (name: string) => void;
  /** Marks all tours as shown, because a person who skips a tour is offered no others. */
  readonly markAllSeen: () => void;
  readonly offerAgain: (name: string) => void;
}

/**
 * @param getStorage Called for each access: a browser that forbids storage throws when
 *   `localStorage` is read
 */
export function createTourStorage(getStorage: () => Storage): TourStorage {
  const read = (key: string): string | null => {
    try {
      return getStorage().getItem(key);
    } catch {
      return null; // storage is forbidden
    }
  };
  const write = (key: string, value: string): void => {
    try {
      getStorage().setItem(key, value);
    } catch {
      // Storage is full or forbidden: the tour will be offered again, and can be skipped.
    }
  };
  const readSeen = (): z.infer<typeof SeenTours> => {
    try {
      return SeenTours.parse(JSON.parse(read(toursSeenKey) ?? "[]"));
    } catch {
      return []; // unreadable value
    }
  };
  const offeredAgain = new Set<string>();

  return Object.freeze<TourStorage>({
    isOnboarded: () => read(onboardingKey) === "true",
    setOnboarded: () => {
      write(onboardingKey, "true");
    },
    hasSeen: (name) => {
      const seen = readSeen();
      return !offeredAgain.has(name) && (seen === "all" || seen.includes(name));
    },
    markSeen: (name) => {
      offeredAgain.delete(name);
      const seen = readSeen();
      if (seen !== "all" && !seen.includes(name)) write(toursSeenKey, JSON.stringify([...seen, name]));
    },
    markAllSeen: () => {
      offeredAgain.clear();
      write(toursSeenKey, JSON.stringify("all"));
    },
    offerAgain: (name) => {
      offeredAgain.add(name);
    },
  });
}
