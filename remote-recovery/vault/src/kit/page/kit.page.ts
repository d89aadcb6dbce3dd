/** The page of a kit: reads the kit from its document, and renders it. */
import "../../rpc/zod-settings.ts";

import { raceAbort } from "@relicario/engine/abortable-calls";
import { PortalError, toPortalError } from "@relicario/shared/errors";
import type { VaultProgress } from "@relicario/shared/contract";

import { ageCommands, identityCommand } from "../commands.ts";
import { getDetachedContentName, kitElementId, parseKit, getPartElementId, type Kit } from "../kit-document.ts";
import { requiresPassphrase } from "../open-kit.ts";
import type { KitSecretSummary } from "../kit-worker-api.ts";
import { createButton, createElement, clearText, setText, createTextElement, createVerbatim } from "./dom.ts";
import { toErrorTextKey } from "./error-text-key.ts";
import { startKitWorker, type KitWorker } from "./start-kit-worker.ts";
import { createDateElement, createSecretView } from "./secret-view.ts";
import { toggleLanguage, bindText } from "./localized-text.ts";
import type { TextKey } from "./texts.ts";

const main = document.querySelector("main") ?? document.body;
renderPage();

function renderPage(): void {
  bindText(document.documentElement, (translate, language) => {
    document.documentElement.lang = language;
    document.title = translate("title");
  });
  const kit = parseKitElement();
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
    main.append(createTextElement("p", toErrorTextKey(kit), {}, { role: "alert", class: "error" }));
  else
    main.append(
      createTextElement("p", "lead_body", {}, { class: "lead" }),
      renderOverview(kit),
      renderOpenForm(kit),
      renderManualSteps(kit),
    );
}

function parseKitElement(): (Kit & { readonly requiresPassphrase: boolean }) | PortalError {
  const element = document.getElementById(kitElementId);
  try {
    const kit = parseKit((element?.textContent ?? "").replaceAll(/^\n|\n$/g, ""), element?.dataset["sha256"] ?? "");
    return { ...kit, requiresPassphrase: requiresPassphrase(kit) };
  } catch (error) {
    return toPortalError(error);
  }
}

function renderOverview(kit: Kit & { readonly requiresPassphrase: boolean }): HTMLElement {
  const detachedNames = kit.secrets
    .filter(({ content }) => content === null)
    .map(({ secret_id: id }) => getDetachedContentName(id));
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
          createElement("blockquote", {}, createVerbatim(kit.note)),
        ),
    createElement(
      "dl",
      {},
      createRow("made_title", createDateElement(kit.made_at)),
      createRow("count_title", createTextElement("dd", "count_body", { count: String(kit.secrets.length) })),
      createRow(
        "needed_title",
        createTextElement("dd", kit.requiresPassphrase ? "needed_passphrase_body" : "needed_body"),
      ),
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
    kit.requiresPassphrase ? null : createTextElement("p", "open_body", {}, { class: "warn" }),
  );
}

function renderOpenForm(kit: Kit & { readonly requiresPassphrase: boolean }): HTMLElement {
  const fileInput = createElement("input", {
    type: "file",
    id: "picture",
    accept: "image/*,.heic,.heif,.avif",
    "aria-describedby": "picture-hint picture-name",
  });
  const chosenName = createElement("p", { id: "picture-name", class: "chosen" });
  const dropZone = createElement(
    "div",
    { class: "field drop" },
    createTextElement("label", "picture_label", {}, { for: "picture" }),
    createTextElement("p", choosePictureHintKey(), {}, { id: "picture-hint", class: "hint" }),
    fileInput,
    chosenName,
  );
  const passphraseInput = createElement("input", {
    type: "password",
    id: "passphrase",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    "aria-describedby": "passphrase-hint",
  });
  const submitButton = createTextElement("button", "open_action", {}, { type: "submit" });
  const cancelButton = createButton("cancel_action", () => controller?.abort(), { class: "quiet", hidden: "" });
  const statusElement = createElement("p", { role: "status" });
  const progressBar = createElement("progress", { max: "1", hidden: "" });
  bindText(progressBar, (translate) => {
    progressBar.setAttribute("aria-label", translate("opening_status"));
  });
  const errorElement = createElement("p", { role: "alert", class: "error" });
  const resultsElement = createElement("div");
  let picture: Blob | null = null;
  let controller: AbortController | null = null;
  let workerPromise: Promise<KitWorker> | null = null;

  const selectPicture = (selected: File | undefined): void => {
    if (selected === undefined || controller !== null) return;
    picture = selected;
    setText(chosenName, "picture_chosen", { name: selected.name });
    clearText(errorElement);
  };
  fileInput.addEventListener("change", () => {
    selectPicture(fileInput.files?.[0]);
  });
  for (const name of ["dragenter", "dragover"] as const) {
    dropZone.addEventListener(name, (event) => {
      event.preventDefault();
      dropZone.dataset["over"] = "";
    });
  }
  for (const name of ["dragleave", "drop"] as const) {
    dropZone.addEventListener(name, () => {
      delete dropZone.dataset["over"];
    });
  }
  dropZone.addEventListener("drop", (event) => {
    event.preventDefault();
    selectPicture(event.dataTransfer?.files[0]);
  });

  const setBusy = (isBusy: boolean): void => {
    submitButton.disabled = fileInput.disabled = passphraseInput.disabled = isBusy;
    cancelButton.hidden = progressBar.hidden = !isBusy;
    if (!isBusy) clearText(statusElement);
  };
  const showProgress = ({ phase, step, done, total }: VaultProgress): void => {
    if (controller?.signal.aborted !== false) return;
    setText(statusElement, chooseStatusKey(phase, step));
    if (total > 0) progressBar.value = done / total;
  };
  /** the next attempt starts another worker */
  const endWorker = (): void => {
    workerPromise?.then(
      (worker) => {
        worker.end();
      },
      () => undefined, // one that did not start has nothing to end
    );
    workerPromise = null;
  };
  const reset = (): void => {
    endWorker();
    resultsElement.replaceChildren();
    form.hidden = false;
    picture = null;
    fileInput.value = passphraseInput.value = "";
    clearText(chosenName);
    fileInput.focus();
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
            embedded: () => activeWorker.abortable(activeWorker.remote.openEmbedded(index)),
            detached: (sealed) => activeWorker.abortable(activeWorker.remote.openDetached(index, sealed)),
          }),
    );
    resultsElement.replaceChildren(
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
      picture === null
        ? "error_no_picture"
        : kit.requiresPassphrase && passphraseInput.value === ""
          ? "error_no_passphrase"
          : null;
    clearText(errorElement);
    if (missingTextKey !== null || picture === null) {
      setText(errorElement, missingTextKey ?? "error_no_picture");
      (missingTextKey === "error_no_passphrase" ? passphraseInput : fileInput).focus();
      return;
    }
    controller = new AbortController();
    const { signal } = controller;
    setBusy(true);
    progressBar.value = 0;
    setText(statusElement, "starting_status");
    try {
      workerPromise ??= startKitWorker();
      const worker = await raceAbort(signal, workerPromise);
      const { requiresPassphrase: usesPassphrase, ...kitDocument } = kit;
      const passphrase = usesPassphrase ? passphraseInput.value : null;
      const openCall = worker.remote.open(kitDocument, picture, passphrase, { onProgress: showProgress });
      const secrets = await raceAbort(signal, worker.abortable(openCall));
      passphraseInput.value = "";
      showResults(worker, secrets);
    } catch (cause) {
      const failure = toPortalError(cause);
      if (failure.code === "cancelled" || failure.code === "unknown" || failure.code === "vault_unavailable")
        endWorker();
      if (failure.code !== "cancelled") setText(errorElement, toErrorTextKey(failure));
    } finally {
      controller = null;
      setBusy(false);
    }
  };

  const form = createElement(
    "form",
    { class: "card", "aria-labelledby": "form-title", novalidate: "" },
    createTextElement("h2", "form_title", {}, { id: "form-title" }),
    dropZone,
    kit.requiresPassphrase
      ? createElement(
          "div",
          { class: "field" },
          createTextElement("label", "passphrase_label", {}, { for: "passphrase" }),
          createTextElement("p", "passphrase_hint", {}, { id: "passphrase-hint", class: "hint" }),
          passphraseInput,
          createRevealToggle(passphraseInput),
        )
      : null,
    createElement("div", { class: "row" }, submitButton, cancelButton),
    progressBar,
    statusElement,
    errorElement,
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void handleOpen();
  });
  return createElement("div", {}, form, resultsElement);
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

function choosePictureHintKey(): TextKey {
  const decoderName = (["avif", "heic"] as const).find(
    (name) => document.getElementById(getPartElementId(name)) !== null,
  );
  return decoderName === undefined ? "picture_hint" : `picture_hint_${decoderName}`;
}

function chooseStatusKey(phase: VaultProgress["phase"], step: VaultProgress["step"]): TextKey {
  if (phase === "passphrase") return "passphrase_status";
  if (phase !== "picture") return "opening_status";
  return step === "searching" ? "searching_status" : step === "straight" ? "straight_status" : "decoding_status";
}

function renderManualSteps(kit: Kit): HTMLElement {
  const createCommandBlock = (commands: string): HTMLElement =>
    createElement("pre", { tabindex: "0", class: "commands", translate: "no" }, commands);
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
