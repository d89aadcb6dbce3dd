import { maxFileBytes, maxRequestNoteLength, maxRequestTitleLength, requestLifetimeDays } from "@relicario/shared/api";
import type { SecretRequest } from "@relicario/shared/contract";
import { z } from "zod";

const dayMilliseconds = 86_400_000;

export const requestLifetimes = {
  day: dayMilliseconds,
  week: requestLifetimeDays.default * dayMilliseconds,
  month: requestLifetimeDays.maximum * dayMilliseconds,
} as const;
export const requestLifetimeNames = [
  "day",
  "week",
  "month",
] as const satisfies readonly (keyof typeof requestLifetimes)[];

/** Maximum size of the answer, in bytes of plaintext. */
export const requestSizes = { text: 1_000_000, photo: 100_000_000, film: 1_000_000_000, any: maxFileBytes } as const;
export const requestSizeNames = [
  "text",
  "photo",
  "film",
  "any",
] as const satisfies readonly (keyof typeof requestSizes)[];

/** Validation errors. Each has a text `ask.<name>_error`. */
const requestProblems = [
  "title_missing",
  "title_long",
  "note_long",
  "name_missing",
  "name_long",
  "text_broken",
] as const;
export type RequestProblem = (typeof requestProblems)[number];

const withProblem = (name: RequestProblem): { error: RequestProblem } => ({ error: name });
const isWellFormed = (text: string): boolean => text.isWellFormed();

export const RequestDraft = z.object({
  title: z
    .string()
    .trim()
    .min(1, withProblem("title_missing"))
    .max(maxRequestTitleLength, withProblem("title_long"))
    .refine(isWellFormed, withProblem("text_broken")),
  note: z
    .string()
    .trim()
    .max(maxRequestNoteLength, withProblem("note_long"))
    .refine(isWellFormed, withProblem("text_broken")),
  requesterName: z
    .string()
    .trim()
    .min(1, withProblem("name_missing"))
    .max(maxRequestTitleLength, withProblem("name_long"))
    .refine(isWellFormed, withProblem("text_broken")),
  lifetime: z.enum(requestLifetimeNames),
  size: z.enum(requestSizeNames),
  notify: z.boolean(),
});
export type RequestDraft = z.infer<typeof RequestDraft>;

export function toSecretRequest({ lifetime, size, ...rest }: RequestDraft, now: number): SecretRequest {
  return { ...rest, expiresAt: new Date(now + requestLifetimes[lifetime]).toISOString(), maxSize: requestSizes[size] };
}

export function isRequestProblem(message: string | undefined): message is RequestProblem {
  return requestProblems.some((candidate) => candidate === message);
}
