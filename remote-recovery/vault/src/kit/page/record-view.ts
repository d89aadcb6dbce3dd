import {
  computeOneTimeCode,
  countPeriods,
  formatOneTimeCode,
  parseOneTimeCode,
  type OneTimeCodeSettings,
  type RecordField,
} from "@relicario/shared/api";

import { createButton, createElement, createTextElement, setText } from "./dom.ts";
import { bindText, getLocale } from "./localized-text.ts";

type CopyText = (getText: () => Promise<string>) => void;

const visibleKinds: readonly RecordField["kind"][] = ["text", "address", "date"];

/**
 * Fields of a record; each can be shown and copied separately. Timers end when the view has left
 * the page.
 */
export function createRecordView(secretId: string, fields: readonly RecordField[], copy: CopyText): HTMLElement {
  return createElement(
    "div",
    { class: "fields" },
    ...fields.map((field, index) => {
      const labelId = `field-${secretId}-${String(index)}`;
      const settings = field.kind === "one_time_code" ? parseOneTimeCode(field.value) : null;
      return createElement(
        "div",
        { role: "group", "aria-labelledby": labelId },
        createElement("span", { id: labelId, class: "label", dir: "auto", translate: "no" }, field.label),
        ...(settings === null ? createValueParts(field, copy) : createCodeParts(settings, copy)),
      );
    }),
  );
}

function createValueParts({ value, kind }: RecordField, copy: CopyText): HTMLElement[] {
  const isHidden = !visibleKinds.includes(kind);
  const valueElement = createElement("div", { class: "value", dir: "auto", translate: "no" });
  const show = (): void => {
    bindText(valueElement, () => {
      valueElement.textContent = kind === "date" ? formatDay(value) : value;
    });
  };
  const copyButton = createCopyButton(() => Promise.resolve(value), copy);
  const note = kind === "one_time_code" ? [createTextElement("p", "code_unknown_body", {}, { class: "hint" })] : [];
  if (!isHidden) show();
  const buttons = isHidden ? [createToggle(valueElement, show), copyButton] : [copyButton];
  return [...note, valueElement, createElement("div", { class: "row" }, ...buttons)];
}

/**
 * Shows one-time codes. A counter starts at its stored value, which never changes; a person who has
 * used codes advances the counter here.
 */
function createCodeParts(settings: OneTimeCodeSettings, copy: CopyText): HTMLElement[] {
  const codeElement = createElement("div", { class: "value" });
  const factsElement = createElement("p", { class: "hint" });
  const isTimed = settings.kind === "totp";
  let counter = settings.counter;
  let isShown = false;
  const computeCode = (): Promise<string> =>
    computeOneTimeCode(settings, isTimed ? countPeriods(settings, Date.now()) : counter);
  const update = async (): Promise<void> => {
    const code = await computeCode();
    if (!isShown) return;
    bindText(codeElement, () => {
      codeElement.textContent = formatOneTimeCode(code);
    });
    const secondsLeft = settings.period - (Math.floor(Date.now() / 1000) % settings.period);
    if (isTimed) setText(factsElement, "seconds_left_body", { seconds: String(secondsLeft) });
    else setText(factsElement, "counter_body", { number: String(counter), stored: String(settings.counter) });
  };
  const timer = setInterval(() => {
    if (!codeElement.isConnected) clearInterval(timer);
    else if (isShown && isTimed) void update();
  }, 1_000);
  const toggle = createToggle(
    codeElement,
    () => {
      isShown = true;
      void update();
    },
    () => {
      isShown = false;
      bindText(factsElement, () => {
        factsElement.textContent = "";
      });
    },
  );
  const nextButton = createButton(
    "next_code_action",
    () => {
      counter += 1;
      void update();
    },
    { class: "quiet" },
  );
  return [
    codeElement,
    factsElement,
    createElement("div", { class: "row" }, toggle, createCopyButton(computeCode, copy), isTimed ? null : nextButton),
  ];
}

function createToggle(valueElement: HTMLElement, onShow: () => void, onHide?: () => void): HTMLElement {
  let isShown = false;
  const toggle = createButton(
    "show_action",
    () => {
      if (isShown) hide();
      else {
        isShown = true;
        setText(toggle, "hide_action");
        valueElement.classList.add("mono");
        valueElement.setAttribute("translate", "no");
        onShow();
      }
    },
    { class: "quiet" },
  );
  const hide = (): void => {
    isShown = false;
    setText(toggle, "show_action");
    setText(valueElement, "hidden_body");
    valueElement.classList.remove("mono");
    valueElement.removeAttribute("translate"); // "Hidden" is our text, so it may be translated
    onHide?.();
  };
  hide();
  return toggle;
}

function createCopyButton(getText: () => Promise<string>, copy: CopyText): HTMLElement {
  return createButton(
    "copy_action",
    () => {
      copy(getText);
    },
    { class: "quiet" },
  );
}

function formatDay(day: string): string {
  return new Intl.DateTimeFormat(getLocale(), { dateStyle: "long" }).format(new Date(`${day}T12:00:00`));
}
