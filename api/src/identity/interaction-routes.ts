import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from "fastify";
import { decodeJwt } from "jose";
import { errors, type InteractionResults, type Provider } from "oidc-provider";
import { z } from "zod";

import type { Accounts } from "./accounts.ts";
import { getBasePath, resolveAppearance, saveAppearance } from "./appearance.ts";
import { TooManyAttempts } from "./attempts.ts";
import type { IdentitySettings } from "./env.ts";
import { findKnownBrowser, saveKnownBrowser } from "./known-browsers.ts";
import { renderFormPage, type Form } from "./pages/forms.ts";
import { createTranslator } from "./pages/layout.ts";
import { sendNotice, sendPage } from "./send-page.ts";

/** No length limit: a name that is too long is simply not found. */
const SignInFields = z.object({
  name: z.string().default(""),
  other_name: z.string().default(""),
  password: z.string().default(""),
});
const SignUpFields = z.object({
  username: z.string().default(""),
  email: z.string().default(""),
  password: z.string().default(""),
});

interface InteractionDeps {
  readonly settings: IdentitySettings;
  readonly provider: Provider;
  readonly accounts: Accounts;
}

type InteractionRequest = FastifyRequest<{ Params: { readonly uid: string } }>;

/**
 * The pages between the portal's authorization request and its response.
 *
 * Against forged requests: each page belongs to one sign-in, by an unguessable path and a signed
 * cookie (HttpOnly, Lax) limited to that path; a POST from another origin is refused.
 */
export const interactionRoutes: FastifyPluginCallback<InteractionDeps> = (
  app,
  { settings, provider, accounts },
  done,
) => {
  const { origin } = new URL(settings.issuer);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<string>(
    "application/x-www-form-urlencoded",
    { parseAs: "string" },
    (_request, body, onParsed) => {
      onParsed(null, Object.fromEntries(new URLSearchParams(body)));
    },
  );
  app.addHook("onRequest", async (request, reply) => {
    const { "sec-fetch-site": fetchSite = "same-origin", origin: formOrigin = origin } = request.headers;
    if (request.method === "POST" && (fetchSite !== "same-origin" || formOrigin !== origin))
      return sendNotice(settings, request, reply, 403, "refused");
  });
  for (const page of ["sign-in", "sign-up"] as const)
    app.route<{ Params: { uid: string } }>({
      method: ["GET", "POST"],
      url: page === "sign-in" ? "/:uid" : "/:uid/sign-up",
      handler: (request, reply) => handleInteraction(request, reply, page),
    });
  done();

  async function handleInteraction(
    request: InteractionRequest,
    reply: FastifyReply,
    page: "sign-in" | "sign-up",
  ): Promise<FastifyReply> {
    const interaction = await provider.interactionDetails(request.raw, reply.raw).catch((error: unknown) => {
      if (error instanceof errors.SessionNotFound) return null;
      throw error;
    });
    if (interaction?.uid !== request.params.uid) return sendNotice(settings, request, reply, 400, "expired");
    const finish = async (result: InteractionResults, mergeWithLastSubmission: boolean): Promise<FastifyReply> =>
      reply.redirect(
        await provider.interactionResult(request.raw, reply.raw, result, { mergeWithLastSubmission }),
        303,
      );
    // prompt=consent: our own clients have consent already.
    if (interaction.prompt.name !== "login") return finish({ consent: {} }, true);

    const { params } = interaction;
    const appearance = resolveAppearance(settings, request, {
      uiLocales: params["ui_locales"],
      theme: params["theme"],
    });
    saveAppearance(reply, appearance);
    const t = createTranslator(appearance);
    const expectedAccount = await findExpectedAccount(interaction.prompt.details["id_token_hint"]);
    const isSignUp = page === "sign-up" && expectedAccount === undefined;
    const signInPath = `${getBasePath(settings)}/interaction/${interaction.uid}`;
    const signUpPath = `${signInPath}/sign-up`;
    const sendForm = (status: number, form: Form, isOtherNameMissing = false): FastifyReply => {
      const [action, alternateUrl] = isSignUp ? [signUpPath, signInPath] : [signInPath, signUpPath];
      const { name = "", other_name: givenOtherName = "" } = form.values;
      const asksOtherName = isOtherNameMissing || givenOtherName !== "";
      const otherName = asksOtherName ? (name.includes("@") ? "username" : "email") : undefined;
      const kind = isSignUp ? "sign_up" : expectedAccount === undefined ? "sign_in" : "sign_in_again";
      return sendPage(reply, status, renderFormPage(appearance, { ...form, kind, otherName, action, alternateUrl }));
    };
    const finishSignIn = (accountId: string): Promise<FastifyReply> => {
      saveKnownBrowser(settings, reply, accountId);
      return finish({ login: { accountId, amr: ["pwd"] } }, false);
    };

    if (request.method !== "POST") {
      const hint = typeof params["login_hint"] === "string" ? params["login_hint"] : "";
      if (isSignUp) return sendForm(200, { values: { email: hint.includes("@") ? hint : "" } });
      const account = expectedAccount ?? (await findAccount(interaction.session?.accountId));
      return sendForm(200, { values: { name: account?.username ?? hint } });
    }
    const { password, ...values } = (isSignUp ? SignUpFields : SignInFields).parse(request.body);
    try {
      return await ("name" in values ? signIn(values.name, values.other_name) : signUp(values));
    } catch (error) {
      if (!(error instanceof TooManyAttempts)) throw error;
      void reply.header("retry-after", error.retryAfterSeconds);
      const minutes = Math.ceil(error.retryAfterSeconds / 60);
      return sendForm(429, {
        values,
        notice: t(({ problems }) => (minutes === 1 ? problems.too_many_one : problems.too_many_other), {
          count: minutes,
        }),
      });
    }

    async function signIn(name: string, otherName: string): Promise<FastifyReply> {
      const problems: Form["problems"] = {
        ...(name.trim() === "" ? { name: "name_missing" } : {}),
        ...(password === "" ? { password: "password_missing" } : {}),
      };
      if (Object.keys(problems).length > 0) return sendForm(422, { values, problems });
      const account = await accounts.signIn({
        login: name,
        otherName,
        password,
        address: request.ip,
        findKnownBrowser: (accountId) => findKnownBrowser(settings, request, accountId),
      });
      if (typeof account === "string") {
        request.log.info({ reason: account }, "sign-in refused");
        return sendForm(
          401,
          { values, notice: t((texts) => texts.problems[account]) },
          account === "other_name_missing",
        );
      }
      request.log.info({ account: account.id }, "signed in");
      if (expectedAccount === undefined || expectedAccount.id === account.id) return finishSignIn(account.id);
      const { username } = expectedAccount;
      return sendForm(403, { values, notice: t((texts) => texts.problems.other_person, { username }) });
    }

    async function signUp(names: { readonly username: string; readonly email: string }): Promise<FastifyReply> {
      const result = await accounts.signUp({ ...names, password }, request.ip);
      if ("problems" in result) return sendForm(422, { values, problems: { ...result.problems } });
      request.log.info({ account: result.account.id }, "signed up");
      return finishSignIn(result.account.id);
    }
  }

  /**
   * The account that must sign in, when the portal sent its ID token, which the library has
   * verified.
   */
  function findExpectedAccount(idToken: unknown) {
    return findAccount(typeof idToken === "string" ? decodeJwt(idToken).sub : undefined);
  }

  async function findAccount(id: string | undefined) {
    return id === undefined ? undefined : accounts.find(id);
  }
};
