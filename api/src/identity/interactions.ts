import type { IncomingMessage, ServerResponse } from "node:http";

import { decodeJwt } from "jose";
import { errors, type Provider } from "oidc-provider";
import { z } from "zod";

import type { Accounts, SignUpProblems } from "./accounts.ts";
import { TooManyAttempts } from "./attempts.ts";
import type { IdentitySettings } from "./env.ts";
import { readForm, sendHtml } from "./http.ts";
import type { Log } from "./log.ts";
import { getBasePath, resolveAppearance, saveAppearance } from "./appearance.ts";
import { renderSignInPage, renderSignUpPage, type SignInForm, type SignUpForm } from "./pages/forms.ts";
import { renderNoticePage } from "./pages/notices.ts";
import { getReturnUrl } from "./provider.ts";

/** A name that is too long is refused by looking it up, not by an error: nobody has it. */
const SignInFields = z.object({ name: z.string().default(""), password: z.string().default("") });
const SignUpFields = z.object({
  username: z.string().default(""),
  email: z.string().default(""),
  password: z.string().default(""),
});

interface InteractionDeps {
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
export function createInteractionHandler({ settings, provider, accounts, log }: InteractionDeps) {
  const base = getBasePath(settings);

  return async function handleInteraction(
    request: IncomingMessage,
    response: ServerResponse,
    target: { uid: string; page: InteractionPage },
  ): Promise<void> {
    const interaction = await provider.interactionDetails(request, response).catch((error: unknown) => {
      if (error instanceof errors.SessionNotFound) return null;
      throw error;
    });
    if (interaction?.uid !== target.uid) {
      sendHtml(
        response,
        400,
        renderNoticePage(resolveAppearance(settings, request), "expired", { returnUrl: getReturnUrl(settings) }),
      );
      return;
    }
    if (interaction.prompt.name !== "login") {
      // prompt=consent: first-party clients have it already.
      await provider.interactionFinished(request, response, { consent: {} }, { mergeWithLastSubmission: true });
      return;
    }

    const { params } = interaction;
    const appearance = resolveAppearance(settings, request, {
      uiLocales: params["ui_locales"],
      theme: params["theme"],
    });
    saveAppearance(response, appearance);
    const signInPath = `${base}/interaction/${interaction.uid}`;
    const signUpPath = `${signInPath}/sign-up`;
    const finishInteraction = (accountId: string) =>
      provider.interactionFinished(
        request,
        response,
        { login: { accountId, amr: ["pwd"] } },
        { mergeWithLastSubmission: false },
      );
    const expectedAccount = await findExpectedAccount(interaction.prompt.details["id_token_hint"]);
    const sendSignInPage = (status: number, form: Pick<SignInForm, "name" | "problems" | "notice">): void => {
      sendHtml(
        response,
        status,
        renderSignInPage(appearance, {
          ...form,
          reauthentication: expectedAccount !== undefined,
          action: signInPath,
          otherAction: signUpPath,
        }),
      );
    };
    const sendSignUpPage = (
      status: number,
      form: Pick<SignUpForm, "username" | "email" | "problems" | "notice">,
    ): void => {
      sendHtml(
        response,
        status,
        renderSignUpPage(appearance, { ...form, action: signUpPath, otherAction: signInPath }),
      );
    };

    if (request.method !== "POST") {
      if (target.page === "sign-up" && expectedAccount === undefined)
        sendSignUpPage(200, { username: "", email: getEmailFromHint(params["login_hint"]), problems: {} });
      else
        sendSignInPage(200, {
          name: expectedAccount?.username ?? (await suggestName(interaction.session?.accountId, params["login_hint"])),
          problems: {},
        });
      return;
    }
    const form = await readForm(request);
    if (target.page === "sign-in" || expectedAccount !== undefined) await signIn(SignInFields.parse(form));
    else await signUp(SignUpFields.parse(form));

    async function signIn({ name, password }: z.infer<typeof SignInFields>): Promise<void> {
      const problems: SignInForm["problems"] = {
        ...(name.trim() === "" ? { name: "name_missing" } : {}),
        ...(password === "" ? { password: "password_missing" } : {}),
      };
      if (Object.keys(problems).length > 0) {
        sendSignInPage(422, { name, problems });
        return;
      }
      try {
        const account = await accounts.signIn(name, password, request.socket.remoteAddress);
        log.info(account === null ? "sign-in refused" : "signed in", { account: account?.id });
        if (account === null) sendSignInPage(401, { name, problems: {}, notice: { problem: "wrong" } });
        else if (expectedAccount !== undefined && expectedAccount.id !== account.id)
          sendSignInPage(403, {
            name,
            problems: {},
            notice: { problem: "other_person", username: expectedAccount.username },
          });
        else await finishInteraction(account.id);
      } catch (error) {
        sendSignInPage(429, { name, problems: {}, notice: createTooManyAttemptsNotice(error, response) });
      }
    }

    async function signUp({ username, email, password }: z.infer<typeof SignUpFields>): Promise<void> {
      try {
        const result = await accounts.signUp({ username, email, password }, request.socket.remoteAddress);
        if ("problems" in result) {
          sendSignUpPage(422, { username, email, problems: result.problems satisfies SignUpProblems });
          return;
        }
        log.info("signed up", { account: result.account.id });
        await finishInteraction(result.account.id);
      } catch (error) {
        sendSignUpPage(429, { username, email, problems: {}, notice: createTooManyAttemptsNotice(error, response) });
      }
    }
  };

  /** Who has to sign in, where the portal's ID token says so; the library has checked it. */
  async function findExpectedAccount(idToken: unknown) {
    const subject = typeof idToken === "string" ? decodeJwt(idToken).sub : undefined;
    return subject === undefined ? undefined : accounts.find(subject);
  }

  /**
   * The name of who is signed in already and has to sign in anew; else what the portal hints at.
   */
  async function suggestName(accountId: string | undefined, hint: unknown): Promise<string> {
    const account = accountId === undefined ? undefined : await accounts.find(accountId);
    return account?.username ?? (typeof hint === "string" ? hint : "");
  }
}

function getEmailFromHint(hint: unknown): string {
  return typeof hint === "string" && hint.includes("@") ? hint : "";
}

function createTooManyAttemptsNotice(
  error: unknown,
  response: ServerResponse,
): { problem: "too_many"; minutes: number } {
  if (!(error instanceof TooManyAttempts)) throw error;
  response.setHeader("Retry-After", String(error.retryAfterSeconds));
  return { problem: "too_many", minutes: Math.ceil(error.retryAfterSeconds / 60) };
}
