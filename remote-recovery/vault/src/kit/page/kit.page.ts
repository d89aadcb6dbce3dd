/** The page of a kit: reads what is in the document, and draws it. */
import "../../rpc/zod-settings.ts";

import { PortalError, toPortalError } from "@relicario/shared/errors";
import type { VaultProgress } from "@relicario/shared/contract";

import { ageCommands, identityCommand } from "../commands.ts";
import { detachedContentName, kitElementId, parseKit, partElementId, type Kit } from "../kit-document.ts";
import { requiresPassphrase } from "../open-kit.ts";
import type { KitSecretSummary } from "../kit-worker-api.ts";
import { createButton, createElement, clearText, setText, createTextElement } from "./dom.ts";
import { errorTextKey } from "./error-text-key.ts";
import { startKitWorker, type KitWorker } from "./start-kit-worker.ts";
import { createDateElement, createSecretView } from "./secret-view.ts";
import { toggleLanguage, bindText } from "./localized-text.ts";
import type { TextKey } from "./texts.ts";

const main = document.querySelector("main") ?? document.body;
render();

function render(): void {
  bindText(document.documentElement, (translate, language) => {
    document.documentElement.lang = language;
    document.title = translate("title");
  });
  const kit = readDocument();
  const header = createElement(
    "header",
    {},
    createTextElement("h1", "title"),
    createButton("language_action", toggleLanguage, { class: "quiet", lang: "" }),
  );
  bindText(header, (_, language) => {
    header.querySelector("button")?.setAttribute("lang", language === "en" ? "es" : "en");
  });
  main.replaceChildren(header);
  if (kit instanceof PortalError)
    main.append(createTextElement("p", errorTextKey(kit), {}, { role: "alert", class: "error" }));
  else
    main.append(
      createTextElement("p", "lead_body", {}, { class: "lead" }),
      renderOverview(kit),
      renderOpenForm(kit),
      renderManualSteps(kit),
    );
}

function readDocument(): (Kit & { readonly passphrase: boolean }) | PortalError {
  const element = document.getElementById(kitElementId);
  try {
    const kit = parseKit((element?.textContent ?? "").replaceAll(/^\n|\n$/g, ""), element?.dataset["sha256"] ?? "");
    return { ...kit, passphrase: requiresPassphrase(kit) };
  } catch (error) {
    return toPortalError(error);
  }
}

function renderOverview(kit: Kit & { readonly passphrase: boolean }): HTMLElement {
  const detachedNames = kit.secrets
    .filter(({ content }) => content === null)
    .map(({ secret_id: id }) => detachedContentName(id));
  const createRow = (key: TextKey, ...value: readonly HTMLElement[]): HTMLElement =>
    createElement("div", {}, createTextElement("dt", key), ...value);
  return createElement(
    "section",
    { class: "card", "aria-labelledby": "about" },
    createTextElement("h2", "about_title", {}, { id: "about" }),
    kit.note === ""
      ? null
      : createElement(
          "figure",
          {},
          createTextElement("figcaption", "note_title"),
          createElement("blockquote", {}, kit.note),
        ),
    createElement(
      "dl",
      {},
      createRow("made_title", createDateElement(kit.made_at)),
      createRow("count_title", createTextElement("dd", "count_body", { count: String(kit.secrets.length) })),
      createRow("needed_title", createTextElement("dd", kit.passphrase ? "needed_passphrase_body" : "needed_body")),
      detachedNames.length === 0
        ? null
        : createRow(
            "beside_title",
            createElement(
              "dd",
              {},
              createTextElement("p", "beside_body"),
              createElement(
                "ul",
                {},
                ...detachedNames.map((name) => createElement("li", {}, createElement("code", {}, name))),
              ),
            ),
          ),
    ),
    kit.passphrase ? null : createTextElement("p", "open_body", {}, { class: "warn" }),
  );
}

/** The form, and below it what is open. */
function renderOpenForm(kit: Kit & { readonly passphrase: boolean }): HTMLElement {
  const file = createElement("input", {
    type: "file",
    id: "picture",
    accept: "image/*,.heic,.heif,.avif",
    "aria-describedby": "picture-hint picture-name",
  });
  const chosenName = createElement("p", { id: "picture-name", class: "chosen" });
  const zone = createElement(
    "div",
    { class: "field drop" },
    createTextElement("label", "picture_label", {}, { for: "picture" }),
    createTextElement("p", pictureHintKey(), {}, { id: "picture-hint", class: "hint" }),
    file,
    chosenName,
  );
  const passphrase = createElement("input", {
    type: "password",
    id: "passphrase",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    "aria-describedby": "passphrase-hint",
  });
  const submit = createTextElement("button", "open_action", {}, { type: "submit" });
  const cancel = createButton("cancel_action", () => controller?.abort(), { class: "quiet", hidden: "" });
  const status = createElement("p", { role: "status" });
  const bar = createElement("progress", { max: "1", hidden: "" });
  bindText(bar, (translate) => {
    bar.setAttribute("aria-label", translate("opening_status"));
  });
  const error = createElement("p", { role: "alert", class: "error" });
  const results = createElement("div");
  let picture: Blob | null = null;
  let controller: AbortController | null = null;
  let worker: KitWorker | null = null;

  const selectPicture = (selected: File | undefined): void => {
    if (selected === undefined || controller !== null) return;
    picture = selected;
    setText(chosenName, "picture_chosen", { name: selected.name });
    clearText(error);
  };
  file.addEventListener("change", () => {
    selectPicture(file.files?.[0]);
  });
  for (const name of ["dragenter", "dragover"] as const) {
    zone.addEventListener(name, (event) => {
      event.preventDefault();
      zone.dataset["over"] = "";
    });
  }
  for (const name of ["dragleave", "drop"] as const) {
    zone.addEventListener(name, () => {
      delete zone.dataset["over"];
    });
  }
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    selectPicture(event.dataTransfer?.files[0]);
  });

  const setBusy = (isBusy: boolean): void => {
    submit.disabled = file.disabled = passphrase.disabled = isBusy;
    cancel.hidden = bar.hidden = !isBusy;
    if (!isBusy) clearText(status);
  };
  const showProgress = ({ phase, step, done, total }: VaultProgress): void => {
    if (controller?.signal.aborted !== false) return;
    setText(status, statusKey(phase, step));
    if (total > 0) bar.value = done / total;
  };
  const reset = (): void => {
    worker?.end();
    worker = null;
    results.replaceChildren();
    form.hidden = false;
    picture = null;
    file.value = passphrase.value = "";
    clearText(chosenName);
    file.focus();
  };
  const showResults = (activeWorker: KitWorker, secrets: readonly (KitSecretSummary | null)[]): void => {
    const openCount = secrets.filter((secret) => secret !== null).length;
    const heading = createTextElement(
      "h2",
      openCount === 1 ? "opened_title_one" : "opened_title_other",
      { count: String(openCount) },
      { tabindex: "-1" },
    );
    const views = secrets.map((secret, index) =>
      secret === null
        ? createElement(
            "article",
            { class: "card" },
            createTextElement("h3", "damaged_title"),
            createTextElement("p", "damaged_body", {}, { class: "error" }),
          )
        : createSecretView(secret, {
            embedded: () => activeWorker.abortable(activeWorker.remote.content(index)),
            detached: (sealed) => activeWorker.abortable(activeWorker.remote.detachedContent(index, sealed)),
          }),
    );
    results.replaceChildren(
      heading,
      ...views,
      createElement("div", { class: "row" }, createButton("away_action", reset, { class: "quiet" })),
      createTextElement("p", "away_hint", {}, { class: "hint" }),
    );
    form.hidden = true;
    heading.focus();
  };

  const handleOpen = async (): Promise<void> => {
    const missingTextKey =
      picture === null ? "error_no_picture" : kit.passphrase && passphrase.value === "" ? "error_no_passphrase" : null;
    clearText(error);
    if (missingTextKey !== null || picture === null) {
      setText(error, missingTextKey ?? "error_no_picture");
      (missingTextKey === "error_no_passphrase" ? passphrase : file).focus();
      return;
    }
    controller = new AbortController();
    setBusy(true);
    bar.value = 0;
    setText(status, "starting_status");
    try {
      worker ??= await startKitWorker();
      const { passphrase: usesPassphrase, ...kitDocument } = kit;
      const secrets = await worker.abortable(
        worker.remote.open(kitDocument, picture, usesPassphrase ? passphrase.value : null, {
          signal: controller.signal,
          onProgress: showProgress,
        }),
      );
      passphrase.value = "";
      showResults(worker, secrets);
    } catch (cause) {
      const failure = toPortalError(cause);
      if (failure.code === "unknown" || failure.code === "vault_unavailable") {
        worker?.end(); // the next try starts a new one
        worker = null;
      }
      if (failure.code !== "cancelled") setText(error, errorTextKey(failure));
    } finally {
      controller = null;
      setBusy(false);
    }
  };

  const form = createElement(
    "form",
    { class: "card", "aria-labelledby": "form-title", novalidate: "" },
    createTextElement("h2", "form_title", {}, { id: "form-title" }),
    zone,
    kit.passphrase
      ? createElement(
          "div",
          { class: "field" },
          createTextElement("label", "passphrase_label", {}, { for: "passphrase" }),
          createTextElement("p", "passphrase_hint", {}, { id: "passphrase-hint", class: "hint" }),
          passphrase,
          createRevealToggle(passphrase),
        )
      : null,
    createElement("div", { class: "row" }, submit, cancel),
    bar,
    status,
    error,
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void handleOpen();
  });
  return createElement("div", {}, form, results);
}

function createRevealToggle(field: HTMLInputElement): HTMLElement {
  const toggle = createButton(
    "show_passphrase_action",
    () => {
      const isHidden = field.type === "password";
      field.type = isHidden ? "text" : "password";
      setText(toggle, isHidden ? "hide_passphrase_action" : "show_passphrase_action");
    },
    { class: "quiet" },
  );
  return toggle;
}

function pictureHintKey(): TextKey {
  const decoderName = (["avif", "heic"] as const).find((name) => document.getElementById(partElementId(name)) !== null);
  return decoderName === undefined ? "picture_hint" : `picture_hint_${decoderName}`;
}

function statusKey(phase: VaultProgress["phase"], step: VaultProgress["step"]): TextKey {
  if (phase === "passphrase") return "passphrase_status";
  if (phase !== "picture") return "opening_status";
  return step === "searching" ? "searching_status" : step === "straight" ? "straight_status" : "decoding_status";
}

function renderManualSteps(kit: Kit): HTMLElement {
  const createCommandBlock = (commands: string): HTMLElement =>
    createElement("pre", { tabindex: "0", class: "commands" }, commands);
  const withLabel = (element: HTMLElement): HTMLElement => {
    element.setAttribute("role", "group");
    bindText(
      element,
      (translate) => {
        element.setAttribute("aria-label", translate("age_title"));
      },
      "label",
    );
    return element;
  };
  return createElement(
    "details",
    { class: "card" },
    createElement("summary", {}, createTextElement("h2", "age_title")),
    createTextElement("p", "age_body"),
    withLabel(createCommandBlock(identityCommand)),
    createTextElement("p", "age_more_body"),
    withLabel(createCommandBlock(ageCommands)),
    kit.secrets.some(({ content }) => content === null) ? createTextElement("p", "age_beside_body") : null,
    createTextElement("h3", "digest_title"),
    createTextElement("p", "digest_body"),
    withLabel(createCommandBlock("sha256sum kit.html")),
  );
}
