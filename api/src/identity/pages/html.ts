/** Markup that is safe to send. Created only by {@link html} and `Html.trusted`. */
export class Html {
  readonly #markup: string; // private, so that no object of the same shape is assignable

  private constructor(markup: string) {
    this.#markup = markup;
  }

  get markup(): string {
    return this.#markup;
  }

  /** For markup of this program or the library; never for input. */
  static trusted(markup: string): Html {
    return new Html(markup);
  }
}

type Interpolation = Html | string | number | null | readonly Html[];

/** Escapes every part that is not {@link Html}. Attribute values must be in double quotes. */
export function html(strings: TemplateStringsArray, ...parts: readonly Interpolation[]): Html {
  return Html.trusted(strings.reduce((markup, string, index) => markup + toMarkup(parts[index - 1] ?? null) + string));
}

function toMarkup(part: Interpolation): string {
  if (part === null) return "";
  if (part instanceof Html) return part.markup;
  if (typeof part === "string" || typeof part === "number") return escapeHtml(String(part));
  return part.map(toMarkup).join("");
}

const entityByCharacter: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entityByCharacter[character] ?? "");
}
