import { toPortalError } from "@relicario/shared/errors";

import type { Bytes } from "../../seal/bytes.ts";
import type { ShownSecret } from "../kit-worker-api.ts";
import { safeFileName } from "../safe-name.ts";
import { button, make, quieten, say, spoken } from "./dom.ts";
import { errorKey } from "./error-key.ts";
import { currentLanguage, speak } from "./speech.ts";
import type { TextKey } from "./texts.ts";

/** How a secret gets its content, while its worker runs. */
export interface ContentOf {
  readonly inside: () => Promise<Bytes>;
  readonly beside: (file: Blob) => Promise<Blob>;
}

/** A revealed text hides again after this long, and when the page is left. */
const revealMilliseconds = 60_000;
const clipboardMilliseconds = 30_000;

/** One secret that is open: what it is, and its content for reading or saving. */
export function secretView(secret: ShownSecret, contentOf: ContentOf): HTMLElement {
  const { title, name, tags, size, createdAt, author, beside, contentKind } = secret;
  const fact = (key: TextKey, value: HTMLElement): HTMLElement => make("div", {}, spoken("dt", key), value);
  const heading = title === "" ? spoken("h3", "untitled_title") : make("h3", {}, title);
  const status = make("p", { role: "status" });
  const error = make("p", { role: "alert", class: "error" });
  const told = { status, error };
  return make(
    "article",
    { class: "card" },
    heading,
    make(
      "dl",
      {},
      fact("file_title", make("dd", {}, name)),
      tags.length > 0 ? fact("tags_title", make("dd", {}, tags.join(", "))) : null,
      fact("size_title", sizeOf(size)),
      fact("saved_title", dateOf(createdAt)),
    ),
    author === "verified" ? null : spoken("p", "author_body", {}, { class: "warn" }),
    beside !== null
      ? besidePart(secret, beside, contentOf, told)
      : contentKind === "file"
        ? saveRow(secret, contentOf, told)
        : textPart(secret, contentOf, told),
    status,
    error,
  );
}

interface Told {
  readonly status: HTMLElement;
  readonly error: HTMLElement;
}

/** Hidden until asked for. */
function textPart(secret: ShownSecret, contentOf: ContentOf, told: Told): HTMLElement {
  const paper = make("div", { class: "paper" });
  const toggle = button(
    "show_action",
    () => {
      if (shown) hide();
      else void reveal();
    },
    { "aria-expanded": "false" },
  );
  let shown = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const hide = (): void => {
    clearTimeout(timer);
    shown = false;
    paper.replaceChildren(spoken("p", "hidden_body", {}, { class: "cover" }));
    toggle.setAttribute("aria-expanded", "false");
    say(toggle, "show_action");
  };
  const reveal = (): Promise<void> =>
    trying(told, async () => {
      const content = make("pre", { tabindex: "0", role: "group" }, await textOf(contentOf));
      speak(
        content,
        (text) => {
          content.setAttribute("aria-label", text("content_label", { title: secret.title }));
        },
        "label",
      );
      shown = true;
      paper.replaceChildren(content);
      toggle.setAttribute("aria-expanded", "true");
      say(toggle, "hide_action");
      timer = setTimeout(hide, revealMilliseconds);
    });
  hide();
  document.addEventListener("visibilitychange", () => {
    if (document.hidden && shown) hide();
  });
  const copy = button("copy_action", () => void trying(told, () => copyText(contentOf, told)), { class: "quiet" });
  return make(
    "div",
    { class: "content" },
    paper,
    make("div", { class: "row" }, toggle, copy, saveButton(secret, contentOf, told)),
  );
}

function saveRow(secret: ShownSecret, contentOf: ContentOf, told: Told): HTMLElement {
  return make("div", { class: "row" }, saveButton(secret, contentOf, told, {}));
}

function saveButton(
  { name }: ShownSecret,
  contentOf: ContentOf,
  told: Told,
  attributes: Readonly<Record<string, string>> = { class: "quiet" },
): HTMLElement {
  return button(
    "save_action",
    () =>
      void trying(told, async () => {
        save(name, new Blob([await contentOf.inside()]));
      }),
    attributes,
  );
}

/** A large content: its sealed file is chosen, opened and handed to the downloads. */
function besidePart(
  { secretId, name }: ShownSecret,
  sealedName: string,
  contentOf: ContentOf,
  told: Told,
): HTMLElement {
  const id = `beside-${secretId}`;
  const input = make("input", { type: "file", id });
  input.addEventListener("change", () => {
    const [file] = input.files ?? [];
    if (file === undefined) return;
    input.disabled = true;
    say(told.status, "beside_running_status", { name: sealedName });
    void trying(told, async () => {
      save(name, await contentOf.beside(file));
    }).finally(() => {
      quieten(told.status);
      input.disabled = false;
      input.value = "";
    });
  });
  return make("div", { class: "field" }, spoken("label", "beside_label", { name: sealedName }, { for: id }), input);
}

async function copyText(contentOf: ContentOf, { status, error }: Told): Promise<void> {
  try {
    await navigator.clipboard.writeText(await textOf(contentOf));
  } catch {
    say(error, "copy_refused_error"); // some browsers give no clipboard to a page from the disk
    return;
  }
  say(status, "copied_status");
  setTimeout(() => {
    navigator.clipboard.writeText("").then(
      () => {
        say(status, "copy_cleared_status");
      },
      () => undefined, // the page is not looked at: the browser clears nothing for it
    );
  }, clipboardMilliseconds);
}

async function textOf(contentOf: ContentOf): Promise<string> {
  return new TextDecoder().decode(await contentOf.inside());
}

/** Runs what the person asked for, and says what went wrong. */
async function trying({ status, error }: Told, work: () => Promise<void>): Promise<void> {
  quieten(error);
  try {
    await work();
  } catch (cause) {
    quieten(status);
    say(error, errorKey(toPortalError(cause)));
  }
}

/** Its media type is generic, so that the browser never opens or runs it. */
function save(name: string, content: Blob): void {
  const url = URL.createObjectURL(content.slice(0, content.size, "application/octet-stream"));
  make("a", { href: url, download: safeFileName(name) }).click();
  setTimeout(() => {
    URL.revokeObjectURL(url);
  }, 60_000); // the browser reads the address after the click
}

/** A date, and below a size, in the language of the page. */
export function dateOf(time: string): HTMLElement {
  const element = make("dd");
  speak(element, () => {
    element.textContent = new Intl.DateTimeFormat(currentLanguage(), { dateStyle: "long", timeStyle: "short" }).format(
      new Date(time),
    );
  });
  return element;
}

function sizeOf(bytes: number): HTMLElement {
  const [value, unit] =
    bytes < 1_000 ? [bytes, "byte"] : bytes < 1_000_000 ? [bytes / 1_000, "kilobyte"] : [bytes / 1_000_000, "megabyte"];
  const element = make("dd");
  speak(element, () => {
    element.textContent = new Intl.NumberFormat(currentLanguage(), {
      style: "unit",
      unit,
      unitDisplay: bytes < 1_000 ? "long" : "short",
      maximumFractionDigits: 1,
    }).format(value);
  });
  return element;
}
