import { maxShareViews, shareLifetimeDays } from "@relicario/shared/api";

const hourMilliseconds = 3_600_000;
const dayMilliseconds = 24 * hourMilliseconds;

/** Lifetimes of a share in milliseconds. */
export const lifetimes = {
  hour: hourMilliseconds,
  day: dayMilliseconds,
  week: shareLifetimeDays.default * dayMilliseconds,
  month: shareLifetimeDays.maximum * dayMilliseconds,
} as const;
export type Lifetime = keyof typeof lifetimes;
export const lifetimeNames = ["hour", "day", "week", "month"] as const satisfies readonly Lifetime[];

/** Choices of the number of views. `other` is a typed number, `any` means no limit. */
export const viewChoices = ["1", "5", "10", "other", "any"] as const;
export type ViewChoice = (typeof viewChoices)[number];

/** Parses the number of views. Null for no limit. */
export function parseMaxViews(choice: ViewChoice, otherText: string): number | null | "invalid" {
  if (choice === "any") return null;
  const views = Number(choice === "other" ? otherText.trim() : choice);
  return Number.isInteger(views) && views >= 1 && views <= maxShareViews ? views : "invalid";
}
