import type { PersonRecord, NewShareInput, OpenerHandle } from "@relicario/shared/contract";
import { z } from "zod";

import { lifetimeNames, lifetimes, parseMaxViews, viewChoices } from "../link/share-limits.ts";

export const audiences = ["public", "signed_in", "person"] as const;
export const passwordChoices = ["proposed", "own", "none"] as const;

/** Validation errors. Each has a text `create.<name>_error`. */
const draftProblems = [
  "person_missing",
  "person_undecided",
  "views_wrong",
  "password_missing",
  "password_broken",
  "password_weak",
  "picture_missing",
] as const;
export type DraftProblem = (typeof draftProblems)[number];

/** Values of the form. Passwords stay exactly as typed. */
export const ShareDraft = z
  .object({
    audience: z.enum(audiences),
    person: z.custom<PersonRecord>().nullable(),
    lifetime: z.enum(lifetimeNames),
    views: z.enum(viewChoices),
    /** Used if `views` is `other`. */
    otherViews: z.string(),
    passwordChoice: z.enum(passwordChoices),
    proposedPassword: z.string(),
    ownPassword: z.string(),
    ownPasswordTooWeak: z.boolean(),
    requiresPicture: z.boolean(),
    picture: z.custom<OpenerHandle>().nullable(),
    notify: z.boolean(),
  })
  .superRefine((draft, context) => {
    const addIssue = (path: keyof typeof draft, message: DraftProblem) => {
      context.addIssue({ code: "custom", path: [path], message });
    };
    if (parseMaxViews(draft.views, draft.otherViews) === "invalid") addIssue("otherViews", "views_wrong");
    if (draft.audience === "person") {
      if (draft.person === null) addIssue("person", "person_missing");
      if (draft.person?.trust === "changed") addIssue("person", "person_undecided");
      return;
    }
    const password = getPassword(draft);
    if (password === "") addIssue("ownPassword", "password_missing");
    if (draft.passwordChoice === "own" && password !== "" && draft.ownPasswordTooWeak)
      addIssue("ownPassword", "password_weak");
    if (password?.isWellFormed() === false) addIssue("ownPassword", "password_broken");
    if (draft.requiresPicture && draft.picture === null) addIssue("picture", "picture_missing");
  });
export type ShareDraft = z.infer<typeof ShareDraft>;

export function emptyDraft(): ShareDraft {
  return {
    audience: "public",
    person: null,
    lifetime: "week",
    // browsers keep the address of an opened link, key included: one view uses it up
    views: "1",
    otherViews: "",
    passwordChoice: "proposed",
    proposedPassword: "",
    ownPassword: "",
    ownPasswordTooWeak: false,
    requiresPicture: false,
    picture: null,
    notify: false,
  };
}

/** Returns the password; null if the share has none. */
export function getPassword({
  audience,
  passwordChoice,
  proposedPassword,
  ownPassword,
}: Pick<ShareDraft, "audience" | "passwordChoice" | "proposedPassword" | "ownPassword">): string | null {
  if (audience === "person" || passwordChoice === "none") return null;
  return passwordChoice === "proposed" ? proposedPassword : ownPassword;
}

/**
 * Converts a draft to the vault's input. Null if the number of views is invalid or the recipient is
 * missing.
 */
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
