import { html, type Html } from "./html.ts";
import { renderPage, createTranslator, type Appearance } from "./layout.ts";
import type { Texts } from "./texts.ts";

type ProblemName = keyof Texts["problems"];

interface FieldProps {
  readonly name: string;
  readonly type: "text" | "email" | "password";
  readonly label: string;
  readonly autocomplete: string;
  /** What was typed, kept over a refusal; never a password. */
  readonly value?: string;
  /** The rules, said before. */
  readonly hint?: string | undefined;
  readonly problem?: string | undefined;
  readonly focus?: boolean;
}

export interface SignInForm {
  readonly action: string;
  readonly otherAction: string;
  readonly name: string;
  readonly problems: { readonly name?: ProblemName; readonly password?: ProblemName };
  /**
   * The person is signed in already and shows once more that it is them: nobody else may, and
   * nobody signs up.
   */
  readonly reauthentication: boolean;
  /** Said above the fields, because it belongs to both. */
  readonly notice?:
    | { readonly problem: "wrong" }
    | { readonly problem: "other_person"; readonly username: string }
    | { readonly problem: "too_many"; readonly minutes: number };
}

export function renderSignInPage(appearance: Appearance, form: SignInForm): string {
  const t = createTranslator(appearance);
  const getProblemText = (name: ProblemName | undefined) => name && t((texts) => texts.problems[name]);
  const isNameFocused = form.name === "" || form.problems.name !== undefined;
  return renderPage(appearance, {
    title: t((texts) => (form.reauthentication ? texts.sign_in_again.title : texts.sign_in.title)),
    lead: t((texts) => (form.reauthentication ? texts.sign_in_again.lead : texts.sign_in.lead)),
    body: html`${renderNotice(appearance, form.notice)}
<form method="post" action="${form.action}" novalidate>
${renderField({
  name: "name",
  type: "text",
  label: t((texts) => texts.sign_in.name_label),
  autocomplete: "username",
  value: form.name,
  problem: getProblemText(form.problems.name),
  focus: isNameFocused,
})}
${renderField({
  name: "password",
  type: "password",
  label: t((texts) => texts.sign_in.password_label),
  autocomplete: "current-password",
  problem: getProblemText(form.problems.password),
  focus: !isNameFocused,
})}
<button class="button" type="submit">${t((texts) => texts.sign_in.action)}</button>
</form>
${form.reauthentication ? null : html`<p class="other">${t((texts) => texts.sign_in.other_hint)} <a class="link" href="${form.otherAction}">${t((texts) => texts.sign_in.other_action)}</a></p>`}`,
  });
}

export interface SignUpForm {
  readonly action: string;
  readonly otherAction: string;
  readonly username: string;
  readonly email: string;
  readonly problems: { readonly username?: ProblemName; readonly email?: ProblemName; readonly password?: ProblemName };
  readonly notice?: { readonly problem: "too_many"; readonly minutes: number };
}

export function renderSignUpPage(appearance: Appearance, form: SignUpForm): string {
  const t = createTranslator(appearance);
  const getProblemText = (name: ProblemName | undefined) => name && t((texts) => texts.problems[name]);
  const fieldOrder = ["username", "email", "password"] as const;
  const focusedField = fieldOrder.find((name) => form.problems[name] !== undefined) ?? "username";
  return renderPage(appearance, {
    title: t((texts) => texts.sign_up.title),
    lead: t((texts) => texts.sign_up.lead),
    body: html`${renderNotice(appearance, form.notice)}
<form method="post" action="${form.action}" novalidate>
${renderField({
  name: "username",
  type: "text",
  label: t((texts) => texts.sign_up.username_label),
  autocomplete: "username",
  value: form.username,
  hint: needsHint(form.problems.username, "username_malformed") && t((texts) => texts.sign_up.username_hint),
  problem: getProblemText(form.problems.username),
  focus: focusedField === "username",
})}
${renderField({
  name: "email",
  type: "email",
  label: t((texts) => texts.sign_up.email_label),
  autocomplete: "email",
  value: form.email,
  problem: getProblemText(form.problems.email),
  focus: focusedField === "email",
})}
${renderField({
  name: "password",
  type: "password",
  label: t((texts) => texts.sign_up.password_label),
  autocomplete: "new-password",
  hint:
    needsHint(form.problems.password, "password_short", "password_long") && t((texts) => texts.sign_up.password_hint),
  problem: getProblemText(form.problems.password),
  focus: focusedField === "password",
})}
<button class="button" type="submit">${t((texts) => texts.sign_up.action)}</button>
</form>
<p class="other">${t((texts) => texts.sign_up.other_hint)} <a class="link" href="${form.otherAction}">${t((texts) => texts.sign_up.other_action)}</a></p>`,
  });
}

/** A problem that says the rule by itself needs no hint below it. */
function needsHint(problem: ProblemName | undefined, ...problemsStatingRule: readonly ProblemName[]): true | undefined {
  return problem !== undefined && problemsStatingRule.includes(problem) ? undefined : true;
}

function renderNotice(appearance: Appearance, notice: SignInForm["notice"]): Html | null {
  return notice === undefined
    ? null
    : html`<p class="notice" role="alert" id="notice">${getNoticeText(appearance, notice)}</p>`;
}

function getNoticeText(appearance: Appearance, notice: NonNullable<SignInForm["notice"]>): string {
  const t = createTranslator(appearance);
  switch (notice.problem) {
    case "wrong":
      return t((texts) => texts.problems.wrong);
    case "other_person":
      return t((texts) => texts.problems.other_person, { username: notice.username });
    case "too_many":
      return t((texts) => (notice.minutes === 1 ? texts.problems.too_many_one : texts.problems.too_many_other), {
        count: notice.minutes,
      });
  }
}

function renderField({ name, type, label, autocomplete, value, hint, problem, focus = false }: FieldProps): Html {
  const descriptionIds = [
    problem === undefined ? null : `${name}-problem`,
    hint === undefined ? null : `${name}-hint`,
  ].filter((id) => id !== null);
  return html`<div class="field">
<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" required${
    type === "password" ? html` maxlength="1024"` : html` maxlength="254" autocapitalize="none" spellcheck="false"`
  }${value === undefined || value === "" ? null : html` value="${value}"`}${descriptionIds.length === 0 ? null : html` aria-describedby="${descriptionIds.join(" ")}"`}${
    problem === undefined ? null : html` aria-invalid="true"`
  }${focus ? html` autofocus` : null}>
${problem === undefined ? null : html`<p class="problem" id="${name}-problem">${problem}</p>`}
${hint === undefined ? null : html`<p class="hint" id="${name}-hint">${hint}</p>`}
</div>`;
}
