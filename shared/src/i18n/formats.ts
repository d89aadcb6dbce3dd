import type { Language } from "../contract/index.ts";

/** Formats dates, numbers and sizes for a language. */
export interface Formats {
  readonly number: (value: number) => string;
  /** Formats a timestamp (RFC 3339), such as `21 Nov 2026`. */
  readonly date: (timestamp: string) => string;
  readonly dateTime: (timestamp: string) => string;
  /** Formats a time, such as `14:05`. */
  readonly time: (timestamp: string) => string;
  /** Formats a size, such as `1.5 MB`, with units of 1000. */
  readonly size: (bytes: number) => string;
  /** Formats a time relative to now, such as `3 days ago`. Counts calendar days. */
  readonly relative: (timestamp: string, now?: number) => string;
}

const formatsByLanguage = new Map<Language, Formats>();

/** Returns the cached formats of a language. */
export function getFormats(language: Language): Formats {
  const cached = formatsByLanguage.get(language);
  if (cached !== undefined) return cached;
  const formats = createFormats(language);
  formatsByLanguage.set(language, formats);
  return formats;
}

const sizeUnits = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;
const periods = [
  ["year", 365 * 86_400],
  ["month", 30 * 86_400],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
] as const;

function createFormats(language: Language): Formats {
  const locale = language === "en" ? "en-GB" : "es"; // British English: the day comes first
  const numberFormat = new Intl.NumberFormat(locale);
  const dateFormat = new Intl.DateTimeFormat(locale, { dateStyle: "medium" });
  const dateTimeFormat = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
  const timeFormat = new Intl.DateTimeFormat(locale, { timeStyle: "short" });
  const relativeFormat = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });

  return Object.freeze({
    number: (value: number) => numberFormat.format(value),
    date: (timestamp: string) => dateFormat.format(new Date(timestamp)),
    dateTime: (timestamp: string) => dateTimeFormat.format(new Date(timestamp)),
    time: (timestamp: string) => timeFormat.format(new Date(timestamp)),
    size: (bytes: number) => {
      const step = Math.min(sizeUnits.length - 1, bytes < 1000 ? 0 : Math.floor(Math.log10(bytes) / 3));
      const unit = sizeUnits[step] ?? "byte";
      return new Intl.NumberFormat(locale, {
        style: "unit",
        unit,
        unitDisplay: unit === "byte" ? "long" : "short",
        maximumFractionDigits: step === 0 ? 0 : 1,
      }).format(bytes / 1000 ** step);
    },
    relative: (timestamp: string, now: number = Date.now()) => {
      const seconds = (Date.parse(timestamp) - now) / 1000;
      const [unit, unitSeconds] =
        periods.find(([, periodSeconds]) => Math.abs(seconds) >= periodSeconds) ?? (["second", 1] as const);
      const count = unit === "day" ? countCalendarDays(now, Date.parse(timestamp)) : Math.trunc(seconds / unitSeconds);
      return relativeFormat.format(count, unit);
    },
  });
}

function countCalendarDays(from: number, to: number): number {
  return Math.round((new Date(to).setHours(0, 0, 0, 0) - new Date(from).setHours(0, 0, 0, 0)) / 86_400_000);
}
