import { html, type Html } from "./html.ts";
import { createTranslator, renderPage, type Appearance } from "./layout.ts";
import type { Texts } from "./texts.ts";

type ProblemName = keyof Texts["problems"];

interface Field {
  readonly name: string;
  readonly type: "text" | "email" | "password";
  readonly autocomplete: string;
  readonly label: (texts: Texts) => string;
  /** The field's rules, shown before any error. */
  readonly hint?: (texts: Texts) => string;
}

const signInFields: readonly Field[] = [
  { name: "name", type: "text", autocomplete: "username", label: (texts) => texts.sign_in.name_label },
  {
    name: "password",
    type: "password",
    autocomplete: "current-password",
    label: (texts) => texts.sign_in.password_label,
  },
];
const otherNameFields: Readonly<Record<"username" | "email", Field>> = {
  username: { name: "other_name", type: "text", autocomplete: "off", label: (texts) => texts.sign_up.username_label },
  email: { name: "other_name", type: "text", autocomplete: "off", label: (texts) => texts.sign_up.email_label },
};
const signUpFields: readonly Field[] = [
  {
    name: "username",
    type: "text",
    autocomplete: "username",
    label: (texts) => texts.sign_up.username_label,
    hint: (texts) => texts.sign_up.username_hint,
  },
  { name: "email", type: "email", autocomplete: "email", label: (texts) => texts.sign_up.email_label },
  {
    name: "password",
    type: "password",
    autocomplete: "new-password",
    label: (texts) => texts.sign_up.password_label,
    hint: (texts) => texts.sign_up.password_hint,
  },
];

export interface Form {
  /** Typed values to show again after an error; never a password. */
  readonly values: Readonly<Record<string, string>>;
  readonly problems?: Readonly<Partial<Record<string, ProblemName>>>;
  /** Shown above the fields. */
  readonly notice?: string;
}

interface FormPage extends Form {
  /**
   * `sign_in_again`: the signed-in person confirms their identity. No other account may sign in,
   * and there is no sign-up.
   */
  readonly kind: "sign_in" | "sign_in_again" | "sign_up";
  /** Which name is asked for next to the one that was given. */
  readonly otherName?: "username" | "email" | undefined;
  readonly action: string;
  readonly alternateUrl: string;
}

export function renderFormPage(
  appearance: Appearance,
  { kind, otherName, action, alternateUrl, values, problems = {}, notice }: FormPage,
): string {
  const t = createTranslator(appearance);
  const fields =
    kind === "sign_up"
      ? signUpFields
      : signInFields.flatMap((field) =>
          field.name === "password" && otherName !== undefined ? [otherNameFields[otherName], field] : [field],
        );
  const focusedField =
    fields.find(({ name }) => problems[name] !== undefined) ?? fields.find(({ name }) => (values[name] ?? "") === "");
  const section = kind === "sign_up" ? "sign_up" : "sign_in";
  return renderPage(appearance, {
    title: t((texts) => texts[kind].title),
    lead: t((texts) => texts[kind].lead),
    body: html`${notice === undefined ? null : html`<p class="notice" role="alert">${notice}</p>`}
<form method="post" action="${action}" novalidate>
${fields.map((field) => renderField(appearance, field, values[field.name], problems[field.name], field === focusedField))}
<button class="button" type="submit">${t((texts) => texts[section].action)}</button>
</form>
${kind === "sign_in_again" ? null : html`<p>${t((texts) => texts[section].other_hint)} <a class="link" href="${alternateUrl}">${t((texts) => texts[section].other_action)}</a></p>`}`,
  });
}

function renderField(
  appearance: Appearance,
  { name, type, autocomplete, label, hint }: Field,
  value = "",
  problem: ProblemName | undefined,
  isFocused: boolean,
): Html {
  const t = createTranslator(appearance);
  const notes = [
    ...(problem === undefined ? [] : [{ kind: "problem", text: t((texts) => texts.problems[problem]) }]),
    ...(hint === undefined ? [] : [{ kind: "hint", text: t(hint) }]),
  ];
  return html`<label for="${name}">${t(label)}</label>
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" required${
    type === "password"
      ? html` maxlength="1024"`
      : html` maxlength="254" autocapitalize="none" spellcheck="false" value="${value}"`
  }${notes.length === 0 ? null : html` aria-describedby="${notes.map(({ kind }) => `${name}-${kind}`).join(" ")}"`}${
    problem === undefined ? null : html` aria-invalid="true"`
  }${isFocused ? html` autofocus` : null}>
${notes.map(({ kind, text }) => html`<p class="${kind}" id="${name}-${kind}">${text}</p>`)}
`;
}
