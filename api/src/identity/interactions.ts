import type { IncomingMessage, ServerResponse } from "node:http";

import { decodeJwt } from "jose";
import { errors, type Provider } from "oidc-provider";
import { z } from "zod";

import type { Accounts, SignUpProblems } from "./accounts.ts";
import { TooManyAttempts } from "./attempts.ts";
import type { IdentitySettings } from "./env.ts";
import { readForm, sendHtml } from "./http.ts";
import type { Log } from "./log.ts";
import { basePath, lookFor, rememberLook } from "./look.ts";
import { signInPage, signUpPage, type SignInForm, type SignUpForm } from "./pages/forms.ts";
import { noticePage } from "./pages/notices.ts";
import { wayBack } from "./provider.ts";

/** A name that is too long is refused by looking it up, not by an error: nobody has it. */
const SignIn = z.object({ name: z.string().default(""), password: z.string().default("") });
const SignUp = z.object({
  username: z.string().default(""),
  email: z.string().default(""),
  password: z.string().default(""),
});

interface Parts {
  readonly settings: IdentitySettings;
  readonly provider: Provider;
  readonly accounts: Accounts;
  readonly log: Log;
}

export type InteractionPage = "sign-in" | "sign-up";

/**
 * The pages between the portal's request and its answer.
 *
 * Against forged requests: a page belongs to one sign-in, by an unguessable address and a signed
 * cookie (HttpOnly, Lax) that lies at that address alone; and a POST that says it comes from
 * elsewhere is refused (http.ts).
 */
export function createInteractions({ settings, provider, accounts, log }: Parts) {
  const base = basePath(settings);

  return async function interact(
    request: IncomingMessage,
    response: ServerResponse,
    asked: { uid: string; page: InteractionPage },
  ): Promise<void> {
    const interaction = await provider.interactionDetails(request, response).catch((error: unknown) => {
      if (error instanceof errors.SessionNotFound) return null;
      throw error;
    });
    if (interaction?.uid !== asked.uid) {
      sendHtml(response, 400, noticePage(lookFor(settings, request), "expired", { back: wayBack(settings) }));
      return;
    }
    if (interaction.prompt.name !== "login") {
      // prompt=consent: first-party clients have it already.
      await provider.interactionFinished(request, response, { consent: {} }, { mergeWithLastSubmission: true });
      return;
    }

    const { params } = interaction;
    const look = lookFor(settings, request, { uiLocales: params["ui_locales"], theme: params["theme"] });
    rememberLook(response, look);
    const signInAddress = `${base}/interaction/${interaction.uid}`;
    const signUpAddress = `${signInAddress}/sign-up`;
    const finish = (accountId: string) =>
      provider.interactionFinished(
        request,
        response,
        { login: { accountId, amr: ["pwd"] } },
        { mergeWithLastSubmission: false },
      );
    const expected = await expectedAccount(interaction.prompt.details["id_token_hint"]);
    const showSignIn = (status: number, form: Pick<SignInForm, "name" | "problems" | "notice">): void => {
      sendHtml(
        response,
        status,
        signInPage(look, { ...form, again: expected !== undefined, action: signInAddress, otherAction: signUpAddress }),
      );
    };
    const showSignUp = (status: number, form: Pick<SignUpForm, "username" | "email" | "problems" | "notice">): void => {
      sendHtml(response, status, signUpPage(look, { ...form, action: signUpAddress, otherAction: signInAddress }));
    };

    if (request.method !== "POST") {
      if (asked.page === "sign-up" && expected === undefined)
        showSignUp(200, { username: "", email: hintedEmail(params["login_hint"]), problems: {} });
      else
        showSignIn(200, {
          name: expected?.username ?? (await knownName(interaction.session?.accountId, params["login_hint"])),
          problems: {},
        });
      return;
    }
    const form = await readForm(request);
    if (asked.page === "sign-in" || expected !== undefined) await signIn(SignIn.parse(form));
    else await signUp(SignUp.parse(form));

    async function signIn({ name, password }: z.infer<typeof SignIn>): Promise<void> {
      const problems: SignInForm["problems"] = {
        ...(name.trim() === "" ? { name: "name_missing" } : {}),
        ...(password === "" ? { password: "password_missing" } : {}),
      };
      if (Object.keys(problems).length > 0) {
        showSignIn(422, { name, problems });
        return;
      }
      try {
        const account = await accounts.signIn(name, password, request.socket.remoteAddress);
        log.info(account === null ? "sign-in refused" : "signed in", { account: account?.id });
        if (account === null) showSignIn(401, { name, problems: {}, notice: { problem: "wrong" } });
        else if (expected !== undefined && expected.id !== account.id)
          showSignIn(403, { name, problems: {}, notice: { problem: "other_person", username: expected.username } });
        else await finish(account.id);
      } catch (error) {
        showSignIn(429, { name, problems: {}, notice: tooMany(error, response) });
      }
    }

    async function signUp({ username, email, password }: z.infer<typeof SignUp>): Promise<void> {
      try {
        const made = await accounts.signUp({ username, email, password }, request.socket.remoteAddress);
        if ("problems" in made) {
          showSignUp(422, { username, email, problems: made.problems satisfies SignUpProblems });
          return;
        }
        log.info("signed up", { account: made.account.id });
        await finish(made.account.id);
      } catch (error) {
        showSignUp(429, { username, email, problems: {}, notice: tooMany(error, response) });
      }
    }
  };

  /** Who has to sign in, where the portal's ID token says so; the library has checked it. */
  async function expectedAccount(idToken: unknown) {
    const subject = typeof idToken === "string" ? decodeJwt(idToken).sub : undefined;
    return subject === undefined ? undefined : accounts.find(subject);
  }

  /**
   * The name of who is signed in already and has to sign in anew; else what the portal hints at.
   */
  async function knownName(accountId: string | undefined, hint: unknown): Promise<string> {
    const account = accountId === undefined ? undefined : await accounts.find(accountId);
    return account?.username ?? (typeof hint === "string" ? hint : "");
  }
}

function hintedEmail(hint: unknown): string {
  return typeof hint === "string" && hint.includes("@") ? hint : "";
}

function tooMany(error: unknown, response: ServerResponse): { problem: "too_many"; minutes: number } {
  if (!(error instanceof TooManyAttempts)) throw error;
  response.setHeader("Retry-After", String(error.retryAfterSeconds));
  return { problem: "too_many", minutes: Math.ceil(error.retryAfterSeconds / 60) };
}
