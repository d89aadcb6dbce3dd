import { html, type Html } from "./html.ts";
import { page, translator, type Look } from "./layout.ts";
import type { Texts } from "../language.ts";

type ProblemName = keyof Texts["problems"];

interface Field {
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
  readonly again: boolean;
  /** Said above the fields, because it belongs to both. */
  readonly notice?:
    | { readonly problem: "wrong" }
    | { readonly problem: "other_person"; readonly username: string }
    | { readonly problem: "too_many"; readonly minutes: number };
}

export function signInPage(look: Look, form: SignInForm): string {
  const t = translator(look);
  const problem = (name: ProblemName | undefined) => name && t((texts) => texts.problems[name]);
  const emptyName = form.name === "" || form.problems.name !== undefined;
  return page(look, {
    title: t((texts) => (form.again ? texts.sign_in_again.title : texts.sign_in.title)),
    lead: t((texts) => (form.again ? texts.sign_in_again.lead : texts.sign_in.lead)),
    body: html`${noticeOf(look, form.notice)}
<form method="post" action="${form.action}" novalidate>
${field({
  name: "name",
  type: "text",
  label: t((texts) => texts.sign_in.name_label),
  autocomplete: "username",
  value: form.name,
  problem: problem(form.problems.name),
  focus: emptyName,
})}
${field({
  name: "password",
  type: "password",
  label: t((texts) => texts.sign_in.password_label),
  autocomplete: "current-password",
  problem: problem(form.problems.password),
  focus: !emptyName,
})}
<button class="button" type="submit">${t((texts) => texts.sign_in.action)}</button>
</form>
${form.again ? null : html`<p class="other">${t((texts) => texts.sign_in.other_hint)} <a class="link" href="${form.otherAction}">${t((texts) => texts.sign_in.other_action)}</a></p>`}`,
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

export function signUpPage(look: Look, form: SignUpForm): string {
  const t = translator(look);
  const problem = (name: ProblemName | undefined) => name && t((texts) => texts.problems[name]);
  const order = ["username", "email", "password"] as const;
  const first = order.find((name) => form.problems[name] !== undefined) ?? "username";
  return page(look, {
    title: t((texts) => texts.sign_up.title),
    lead: t((texts) => texts.sign_up.lead),
    body: html`${noticeOf(look, form.notice)}
<form method="post" action="${form.action}" novalidate>
${field({
  name: "username",
  type: "text",
  label: t((texts) => texts.sign_up.username_label),
  autocomplete: "username",
  value: form.username,
  hint: unlessSaid(form.problems.username, "username_malformed") && t((texts) => texts.sign_up.username_hint),
  problem: problem(form.problems.username),
  focus: first === "username",
})}
${field({
  name: "email",
  type: "email",
  label: t((texts) => texts.sign_up.email_label),
  autocomplete: "email",
  value: form.email,
  problem: problem(form.problems.email),
  focus: first === "email",
})}
${field({
  name: "password",
  type: "password",
  label: t((texts) => texts.sign_up.password_label),
  autocomplete: "new-password",
  hint:
    unlessSaid(form.problems.password, "password_short", "password_long") && t((texts) => texts.sign_up.password_hint),
  problem: problem(form.problems.password),
  focus: first === "password",
})}
<button class="button" type="submit">${t((texts) => texts.sign_up.action)}</button>
</form>
<p class="other">${t((texts) => texts.sign_up.other_hint)} <a class="link" href="${form.otherAction}">${t((texts) => texts.sign_up.other_action)}</a></p>`,
  });
}

/** A problem that says the rule by itself needs no hint below it. */
function unlessSaid(problem: ProblemName | undefined, ...saying: readonly ProblemName[]): true | undefined {
  return problem !== undefined && saying.includes(problem) ? undefined : true;
}

function noticeOf(look: Look, notice: SignInForm["notice"]): Html | null {
  return notice === undefined ? null : html`<p class="notice" role="alert" id="notice">${wordsOf(look, notice)}</p>`;
}

function wordsOf(look: Look, notice: NonNullable<SignInForm["notice"]>): string {
  const t = translator(look);
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

function field({ name, type, label, autocomplete, value, hint, problem, focus = false }: Field): Html {
  const said = [problem === undefined ? null : `${name}-problem`, hint === undefined ? null : `${name}-hint`].filter(
    (id) => id !== null,
  );
  return html`<div class="field">
<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" required${
    type === "password" ? html` maxlength="1024"` : html` maxlength="254" autocapitalize="none" spellcheck="false"`
  }${value === undefined || value === "" ? null : html` value="${value}"`}${said.length === 0 ? null : html` aria-describedby="${said.join(" ")}"`}${
    problem === undefined ? null : html` aria-invalid="true"`
  }${focus ? html` autofocus` : null}>
${problem === undefined ? null : html`<p class="problem" id="${name}-problem">${problem}</p>`}
${hint === undefined ? null : html`<p class="hint" id="${name}-hint">${hint}</p>`}
</div>`;
}
