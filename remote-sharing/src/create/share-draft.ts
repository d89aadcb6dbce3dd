import { maxShareViews, shareDays } from "@relicario/shared/api";
import type { FoundPerson, ShareRequest, ShownImage } from "@relicario/shared/contract";
import { z } from "zod";

const hourMilliseconds = 3_600_000;
const dayMilliseconds = 24 * hourMilliseconds;

/** How long a share lives, in milliseconds. */
export const lifetimes = {
  hour: hourMilliseconds,
  day: dayMilliseconds,
  week: shareDays.usual * dayMilliseconds,
  month: shareDays.most * dayMilliseconds,
} as const;
export type Lifetime = keyof typeof lifetimes;
export const lifetimeNames = ["hour", "day", "week", "month"] as const satisfies readonly Lifetime[];

/** How often it may be opened; `other` is typed, `any` has no limit. */
export const viewChoices = ["1", "5", "10", "other", "any"] as const;
export type ViewChoice = (typeof viewChoices)[number];

export const audiences = ["public", "signed_in", "person"] as const;
export const passwordChoices = ["proposed", "own", "none"] as const;

/** Validation errors; each has a text `create.<name>_error`. */
export const draftProblems = [
  "person_missing",
  "person_undecided",
  "views_wrong",
  "password_missing",
  "password_broken",
  "picture_missing",
  "opener_missing",
] as const;
export type DraftProblem = (typeof draftProblems)[number];

/** Values of the form. Passwords are kept exactly as typed. */
export const ShareDraft = z
  .object({
    audience: z.enum(audiences),
    person: z.custom<FoundPerson>().nullable(),
    lifetime: z.enum(lifetimeNames),
    views: z.enum(viewChoices),
    /** Of the choice `other`. */
    otherViews: z.string(),
    password: z.enum(passwordChoices),
    proposed: z.string(),
    own: z.string(),
    asksPicture: z.boolean(),
    picture: z.custom<ShownImage>().nullable(),
    notify: z.boolean(),
    opener: z.custom<ShownImage>().nullable(),
  })
  .superRefine((draft, context) => {
    const add = (path: keyof typeof draft, message: DraftProblem) => {
      context.addIssue({ code: "custom", path: [path], message });
    };
    if (viewsOf(draft.views, draft.otherViews) === "wrong") add("otherViews", "views_wrong");
    if (draft.opener === null) add("opener", "opener_missing");
    if (draft.audience === "person") {
      if (draft.person === null) add("person", "person_missing");
      if (draft.person?.standing === "changed") add("person", "person_undecided");
      return;
    }
    const password = passwordOf(draft);
    if (password === "") add("own", "password_missing");
    if (password?.isWellFormed() === false) add("own", "password_broken");
    if (draft.asksPicture && draft.picture === null) add("picture", "picture_missing");
  });
export type ShareDraft = z.infer<typeof ShareDraft>;

export function emptyDraft(): ShareDraft {
  return {
    audience: "public",
    person: null,
    lifetime: "week",
    views: "5",
    otherViews: "",
    password: "proposed",
    proposed: "",
    own: "",
    asksPicture: false,
    picture: null,
    notify: false,
    opener: null,
  };
}

/** Null for no limit. */
export function viewsOf(choice: ViewChoice, other: string): number | null | "wrong" {
  if (choice === "any") return null;
  const views = Number(choice === "other" ? other.trim() : choice);
  return Number.isInteger(views) && views >= 1 && views <= maxShareViews ? views : "wrong";
}

/** Null without one. */
export function passwordOf({
  audience,
  password,
  proposed,
  own,
}: Pick<ShareDraft, "audience" | "password" | "proposed" | "own">): string | null {
  if (audience === "person" || password === "none") return null;
  return password === "proposed" ? proposed : own;
}

/** What the vault seals; null when the draft has no person where it needs one. */
export function requestOf(draft: ShareDraft, secretId: string, now: number): ShareRequest | null {
  const { audience, person, notify } = draft;
  const maxViews = viewsOf(draft.views, draft.otherViews);
  if (maxViews === "wrong" || (audience === "person" && person === null)) return null;
  return {
    secretId,
    to:
      audience === "person" && person !== null
        ? { audience, person }
        : { audience: audience === "public" ? "public" : "signed_in" },
    expiresAt: new Date(now + lifetimes[draft.lifetime]).toISOString(),
    maxViews,
    password: passwordOf(draft),
    picture: audience !== "person" && draft.asksPicture ? draft.picture : null,
    notify,
  };
}

export function isDraftProblem(message: string | undefined): message is DraftProblem {
  return draftProblems.some((each) => each === message);
}
