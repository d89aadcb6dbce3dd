import { parseRecord, toSafeFileName } from "@relicario/shared/api";
import { toPortalError } from "@relicario/shared/errors";

import type { Bytes } from "../../seal/bytes.ts";
import type { KitSecretSummary } from "../kit-worker-api.ts";
import { createButton, createElement, clearText, setText, createTextElement, createVerbatim } from "./dom.ts";
import { toErrorTextKey } from "./error-text-key.ts";
import { getLocale, bindText } from "./localized-text.ts";
import { createRecordView } from "./record-view.ts";
import type { TextKey } from "./texts.ts";

/** Gets the contents of secrets from the worker. */
export interface ContentSource {
  readonly embedded: () => Promise<Bytes>;
  readonly detached: (file: Blob) => Promise<Blob>;
}

/** A revealed text is hidden after this time, and when the page is hidden. */
const revealMilliseconds = 60_000;
const clipboardMilliseconds = 30_000;

export function createSecretView(secret: KitSecretSummary, contentSource: ContentSource): HTMLElement {
  const { title, name, tags, size, createdAt, signatureStatus, detachedName, contentKind } = secret;
  const createRow = (key: TextKey, value: HTMLElement): HTMLElement =>
    createElement("div", {}, createTextElement("dt", key), value);
  const heading =
    title === "" ? createTextElement("h3", "untitled_title") : createElement("h3", {}, createVerbatim(title));
  const status = createElement("p", { role: "status" });
  const error = createElement("p", { role: "alert", class: "error" });
  const messages = { status, error };
  return createElement(
    "article",
    { class: "card" },
    heading,
    createElement(
      "dl",
      {},
      createRow("file_title", createElement("dd", {}, createVerbatim(name))),
      tags.length > 0 ? createRow("tags_title", createElement("dd", {}, createVerbatim(tags.join(", ")))) : null,
      createRow("size_title", createSizeElement(size)),
      createRow("saved_title", createDateElement(createdAt)),
    ),
    signatureStatus === "verified" ? null : createTextElement("p", "author_body", {}, { class: "warn" }),
    detachedName !== null
      ? createDetachedSection(secret, detachedName, contentSource, messages)
      : contentKind === "file"
        ? createSaveRow(secret, contentSource, messages)
        : createTextSection(secret, contentSource, messages),
    status,
    error,
  );
}

interface MessageElements {
  readonly status: HTMLElement;
  readonly error: HTMLElement;
}

function createTextSection(
  secret: KitSecretSummary,
  contentSource: ContentSource,
  messages: MessageElements,
): HTMLElement {
  const contentContainer = createElement("div", { class: "paper" });
  const toggleButton = createButton(
    "show_action",
    () => {
      if (isShown) hide();
      else void reveal();
    },
    { "aria-expanded": "false" },
  );
  const isRecord = secret.contentKind === "record";
  const copy = (getText: () => Promise<string>): void =>
    void runReportingErrors(messages, () => copyText(getText, messages));
  let isShown = false;
  let hideTimer: ReturnType<typeof setTimeout> | undefined;

  const hide = (): void => {
    clearTimeout(hideTimer);
    isShown = false;
    contentContainer.replaceChildren(createTextElement("p", "hidden_body", {}, { class: "cover" }));
    toggleButton.setAttribute("aria-expanded", "false");
    setText(toggleButton, "show_action");
  };
  const reveal = (): Promise<void> =>
    runReportingErrors(messages, async () => {
      const text = await readText(contentSource);
      const fields = isRecord ? parseRecord(text) : null;
      const content =
        fields === null
          ? createElement("pre", { tabindex: "0", role: "group", dir: "auto", translate: "no" }, text)
          : createRecordView(secret.secretId, fields, copy);
      if (isRecord && fields === null) setText(messages.error, "record_unreadable_body");
      bindText(
        content,
        (translate) => {
          content.setAttribute("aria-label", translate("content_label", { title: secret.title }));
        },
        "label",
      );
      isShown = true;
      contentContainer.replaceChildren(content);
      toggleButton.setAttribute("aria-expanded", "true");
      setText(toggleButton, "hide_action");
      hideTimer = setTimeout(hide, revealMilliseconds);
    });
  hide();
  document.addEventListener("visibilitychange", () => {
    if (document.hidden && isShown) hide();
  });
  const copyButton = createButton(
    "copy_action",
    () => {
      copy(() => readText(contentSource));
    },
    { class: "quiet" },
  );
  return createElement(
    "div",
    { class: "content" },
    contentContainer,
    createElement(
      "div",
      { class: "row" },
      toggleButton,
      isRecord ? null : copyButton,
      createSaveButton(secret, contentSource, messages),
    ),
  );
}

function createSaveRow(secret: KitSecretSummary, contentSource: ContentSource, messages: MessageElements): HTMLElement {
  return createElement("div", { class: "row" }, createSaveButton(secret, contentSource, messages, {}));
}

function createSaveButton(
  { name }: KitSecretSummary,
  contentSource: ContentSource,
  messages: MessageElements,
  attributes: Readonly<Record<string, string>> = { class: "quiet" },
): HTMLElement {
  return createButton(
    "save_action",
    () =>
      void runReportingErrors(messages, async () => {
        downloadFile(name, new Blob([await contentSource.embedded()]));
      }),
    attributes,
  );
}

/** Renders a large content: the person chooses its sealed file, which is opened and downloaded. */
function createDetachedSection(
  { secretId, name }: KitSecretSummary,
  sealedName: string,
  contentSource: ContentSource,
  messages: MessageElements,
): HTMLElement {
  const id = `beside-${secretId}`;
  const fileInput = createElement("input", { type: "file", id });
  fileInput.addEventListener("change", () => {
    const [file] = fileInput.files ?? [];
    if (file === undefined) return;
    fileInput.disabled = true;
    setText(messages.status, "beside_running_status", { name: sealedName });
    void runReportingErrors(messages, async () => {
      downloadFile(name, await contentSource.detached(file));
    }).finally(() => {
      clearText(messages.status);
      fileInput.disabled = false;
      fileInput.value = "";
    });
  });
  return createElement(
    "div",
    { class: "field" },
    createTextElement("label", "beside_label", { name: sealedName }, { for: id }),
    fileInput,
  );
}

async function copyText(getText: () => Promise<string>, { status, error }: MessageElements): Promise<void> {
  try {
    await navigator.clipboard.writeText(await getText());
  } catch {
    setText(error, "copy_refused_error"); // some browsers give pages opened from disk no clipboard
    return;
  }
  setText(status, "copied_status");
  setTimeout(() => {
    navigator.clipboard.writeText("").then(
      () => {
        setText(status, "copy_cleared_status");
      },
      () => undefined, // a page that is not in focus cannot clear the clipboard
    );
  }, clipboardMilliseconds);
}

async function readText(contentSource: ContentSource): Promise<string> {
  return new TextDecoder().decode(await contentSource.embedded());
}

async function runReportingErrors({ status, error }: MessageElements, callback: () => Promise<void>): Promise<void> {
  clearText(error);
  try {
    await callback();
  } catch (cause) {
    clearText(status);
    setText(error, toErrorTextKey(toPortalError(cause)));
  }
}

/** Saves a file with a generic media type, so that the browser never opens or runs it. */
function downloadFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content.slice(0, content.size, "application/octet-stream"));
  createElement("a", { href: url, download: toSafeFileName(name) }).click();
  setTimeout(() => {
    URL.revokeObjectURL(url);
  }, 60_000); // the browser reads the URL after the click
}

export function createDateElement(time: string): HTMLElement {
  const element = createElement("dd");
  bindText(element, () => {
    element.textContent = new Intl.DateTimeFormat(getLocale(), { dateStyle: "long", timeStyle: "short" }).format(
      new Date(time),
    );
  });
  return element;
}

function createSizeElement(bytes: number): HTMLElement {
  const [value, unit] =
    bytes < 1_000 ? [bytes, "byte"] : bytes < 1_000_000 ? [bytes / 1_000, "kilobyte"] : [bytes / 1_000_000, "megabyte"];
  const element = createElement("dd");
  bindText(element, () => {
    element.textContent = new Intl.NumberFormat(getLocale(), {
      style: "unit",
      unit,
      unitDisplay: bytes < 1_000 ? "long" : "short",
      maximumFractionDigits: 1,
    }).format(value);
  });
  return element;
}
