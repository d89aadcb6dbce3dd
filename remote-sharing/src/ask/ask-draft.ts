import { maxFileBytes, maxRequestNoteLength, maxRequestTitleLength, requestDays } from "@relicario/shared/api";
import type { SecretRequest } from "@relicario/shared/contract";
import { z } from "zod";

const dayMilliseconds = 86_400_000;

export const askLifetimes = {
  day: dayMilliseconds,
  week: requestDays.usual * dayMilliseconds,
  month: requestDays.most * dayMilliseconds,
} as const;
export const askLifetimeNames = ["day", "week", "month"] as const satisfies readonly (keyof typeof askLifetimes)[];

/** How large the answer may be, in bytes of plain content. */
export const askSizes = { text: 1_000_000, photo: 100_000_000, film: 1_000_000_000, any: maxFileBytes } as const;
export const askSizeNames = ["text", "photo", "film", "any"] as const satisfies readonly (keyof typeof askSizes)[];

/** Validation errors; each has a text `ask.<name>_error`. */
export const askProblems = [
  "title_missing",
  "title_long",
  "note_long",
  "name_missing",
  "name_long",
  "text_broken",
] as const;
export type AskProblem = (typeof askProblems)[number];

const problem = (name: AskProblem): { error: AskProblem } => ({ error: name });
const wellFormed = (text: string): boolean => text.isWellFormed();

/** Values of the form. */
export const AskDraft = z.object({
  title: z
    .string()
    .trim()
    .min(1, problem("title_missing"))
    .max(maxRequestTitleLength, problem("title_long"))
    .refine(wellFormed, problem("text_broken")),
  note: z.string().trim().max(maxRequestNoteLength, problem("note_long")).refine(wellFormed, problem("text_broken")),
  askedBy: z
    .string()
    .trim()
    .min(1, problem("name_missing"))
    .max(maxRequestTitleLength, problem("name_long"))
    .refine(wellFormed, problem("text_broken")),
  lifetime: z.enum(askLifetimeNames),
  size: z.enum(askSizeNames),
  notify: z.boolean(),
});
export type AskDraft = z.infer<typeof AskDraft>;

/** What the vault seals. */
export function secretRequestOf({ lifetime, size, ...rest }: AskDraft, now: number): SecretRequest {
  return { ...rest, expiresAt: new Date(now + askLifetimes[lifetime]).toISOString(), maxSize: askSizes[size] };
}

export function isAskProblem(message: string | undefined): message is AskProblem {
  return askProblems.some((each) => each === message);
}
