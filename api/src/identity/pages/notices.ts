import { html, Html } from "./html.ts";
import { renderPage, createTranslator, type Appearance } from "./layout.ts";

export type NoticeName = "expired" | "not_found" | "refused" | "busy" | "failed" | "signed_out";

export function renderNoticePage(
  appearance: Appearance,
  name: NoticeName,
  { returnUrl, code }: { returnUrl: string | undefined; code?: string | undefined },
): string {
  const t = createTranslator(appearance);
  return renderPage(appearance, {
    title: t((texts) => texts[name].title),
    lead: t((texts) => texts[name].lead),
    body: html`${code === undefined ? null : html`<p>${t((texts) => texts.common.code_label)}: <code>${code}</code></p>`}
${returnUrl === undefined ? null : html`<a class="button" href="${returnUrl}">${t((texts) => texts.common.back_action)}</a>`}`,
  });
}

/**
 * Renders the question before a sign-out whose request did not prove that it knows who is signed
 * in.
 */
export function renderSignOutConfirmationPage(
  appearance: Appearance,
  { form, stayUrl }: { form: string; stayUrl: string | undefined },
): string {
  const t = createTranslator(appearance);
  return renderPage(appearance, {
    title: t((texts) => texts.sign_out.title),
    lead: t((texts) => texts.sign_out.lead),
    body: html`${trustSignOutForm(form)}
<button class="button" type="submit" form="${logoutFormId}" name="logout" value="yes">${t((texts) => texts.sign_out.action)}</button>
${stayUrl === undefined ? null : html`<a class="button quiet" href="${stayUrl}">${t((texts) => texts.sign_out.stay_action)}</a>`}`,
  });
}

/** Renders a page that submits itself. The button is for browsers without scripts. */
export function renderAutoSignOutPage(appearance: Appearance, { form }: { form: string }): string {
  const t = createTranslator(appearance);
  return renderPage(appearance, {
    title: t((texts) => texts.signing_out.title),
    lead: t((texts) => texts.signing_out.lead),
    body: html`${trustSignOutForm(form)}
<button class="button" type="submit" form="${logoutFormId}" name="logout" value="yes" autofocus>${t((texts) => texts.signing_out.action)}</button>`,
    script: Html.trusted(`<script>${signOutScript}</script>`),
  });
}

/** The page's policy contains its digest. */
export const signOutScript = `document.querySelector("button[name=logout]").click();`;

/** Id of the library's form, whose only field is the token against forgery. */
const logoutFormId = "op.logoutForm";
function trustSignOutForm(form: string): Html {
  return Html.trusted(form);
}
