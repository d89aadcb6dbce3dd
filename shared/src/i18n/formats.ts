import type { Language } from "../contract/index.ts";

/** Dates, numbers and sizes as the language writes them. */
export interface Formats {
  readonly number: (value: number) => string;
  /** `21 Nov 2026`. Takes RFC 3339. */
  readonly date: (timestamp: string) => string;
  readonly dateTime: (timestamp: string) => string;
  /** `14:05`. */
  readonly time: (timestamp: string) => string;
  /** `1.5 MB`, in steps of 1000. */
  readonly size: (bytes: number) => string;
  /** `3 days ago`, `in 2 hours`. */
  readonly relative: (timestamp: string, now?: number) => string;
}

const formatsByLanguage = new Map<Language, Formats>();

/** The formats of a language; made once. */
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
  const locale = language === "en" ? "en-GB" : "es"; // dates of the English texts begin with the day
  const number = new Intl.NumberFormat(locale);
  const date = new Intl.DateTimeFormat(locale, { dateStyle: "medium" });
  const dateTime = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
  const time = new Intl.DateTimeFormat(locale, { timeStyle: "short" });
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });

  return Object.freeze({
    number: (value: number) => number.format(value),
    date: (timestamp: string) => date.format(new Date(timestamp)),
    dateTime: (timestamp: string) => dateTime.format(new Date(timestamp)),
    time: (timestamp: string) => time.format(new Date(timestamp)),
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
      return relative.format(Math.trunc(seconds / unitSeconds), unit);
    },
  });
}
