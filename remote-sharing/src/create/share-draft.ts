import type { PersonRecord, NewShareInput, OpenerHandle } from "@relicario/shared/contract";
import { z } from "zod";

import { lifetimeNames, lifetimes, parseMaxViews, viewChoices } from "../link/share-limits.ts";

export const audiences = ["public", "signed_in", "person"] as const;
export const passwordChoices = ["proposed", "own", "none"] as const;

/** Validation errors; each has a text `create.<name>_error`. */
const draftProblems = [
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
    person: z.custom<PersonRecord>().nullable(),
    lifetime: z.enum(lifetimeNames),
    views: z.enum(viewChoices),
    /** Of the choice `other`. */
    otherViews: z.string(),
    passwordChoice: z.enum(passwordChoices),
    proposedPassword: z.string(),
    ownPassword: z.string(),
    requiresPicture: z.boolean(),
    picture: z.custom<OpenerHandle>().nullable(),
    notify: z.boolean(),
    opener: z.custom<OpenerHandle>().nullable(),
  })
  .superRefine((draft, context) => {
    const addIssue = (path: keyof typeof draft, message: DraftProblem) => {
      context.addIssue({ code: "custom", path: [path], message });
    };
    if (parseMaxViews(draft.views, draft.otherViews) === "invalid") addIssue("otherViews", "views_wrong");
    if (draft.opener === null) addIssue("opener", "opener_missing");
    if (draft.audience === "person") {
      if (draft.person === null) addIssue("person", "person_missing");
      if (draft.person?.trust === "changed") addIssue("person", "person_undecided");
      return;
    }
    const password = getPassword(draft);
    if (password === "") addIssue("ownPassword", "password_missing");
    if (password?.isWellFormed() === false) addIssue("ownPassword", "password_broken");
    if (draft.requiresPicture && draft.picture === null) addIssue("picture", "picture_missing");
  });
export type ShareDraft = z.infer<typeof ShareDraft>;

export function emptyDraft(): ShareDraft {
  return {
    audience: "public",
    person: null,
    lifetime: "week",
    views: "5",
    otherViews: "",
    passwordChoice: "proposed",
    proposedPassword: "",
    ownPassword: "",
    requiresPicture: false,
    picture: null,
    notify: false,
    opener: null,
  };
}

/** Null without one. */
export function getPassword({
  audience,
  passwordChoice,
  proposedPassword,
  ownPassword,
}: Pick<ShareDraft, "audience" | "passwordChoice" | "proposedPassword" | "ownPassword">): string | null {
  if (audience === "person" || passwordChoice === "none") return null;
  return passwordChoice === "proposed" ? proposedPassword : ownPassword;
}

/** What the vault seals; null when the draft has no person where it needs one. */
export function toShareRequest(draft: ShareDraft, secretId: string, now: number): NewShareInput | null {
  const { audience, person, notify } = draft;
  const maxViews = parseMaxViews(draft.views, draft.otherViews);
  if (maxViews === "invalid" || (audience === "person" && person === null)) return null;
  return {
    secretId,
    to:
      audience === "person" && person !== null
        ? { audience, person }
        : { audience: audience === "public" ? "public" : "signed_in" },
    expiresAt: new Date(now + lifetimes[draft.lifetime]).toISOString(),
    maxViews,
    password: getPassword(draft),
    picture: audience !== "person" && draft.requiresPicture ? draft.picture : null,
    notify,
  };
}

export function isDraftProblem(message: string | undefined): message is DraftProblem {
  return draftProblems.some((candidate) => candidate === message);
}
