import { ContactEmail, UserName, type Me, type UpdateMeBody } from "@relicario/shared/api";
import { z } from "zod";

const profileProblems = ["name_invalid", "name_taken", "email_invalid"] as const;
export type ProfileProblem = (typeof profileProblems)[number];

/**
 * Schema of the form's values, made of the service's schemas. A current name that is older than the
 * ASCII rule may stay. The address may be empty only while the account has none.
 */
export function createProfileSchema(me: Pick<Me, "user_name" | "contact_email">) {
  return z.object({
    userName: z
      .string()
      .trim()
      .refine((name) => name === me.user_name || UserName.safeParse(name).success, {
        error: "name_invalid" satisfies ProfileProblem,
      }),
    contactEmail: z
      .string()
      .trim()
      .refine((address) => (address === "" ? me.contact_email === null : ContactEmail.safeParse(address).success), {
        error: "email_invalid" satisfies ProfileProblem,
      }),
  });
}
export type ProfileDraft = z.infer<ReturnType<typeof createProfileSchema>>;

export function isProfileProblem(message: string | undefined): message is ProfileProblem {
  return profileProblems.some((candidate) => candidate === message);
}

/** Returns a request body that contains only the changed fields. */
export function toProfileUpdate(me: Me, { userName, contactEmail }: ProfileDraft): UpdateMeBody {
  return {
    ...(userName === me.user_name ? {} : { user_name: userName }),
    ...(contactEmail === "" || contactEmail === me.contact_email ? {} : { contact_email: contactEmail }),
  };
}
