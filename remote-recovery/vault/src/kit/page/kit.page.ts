/** The page of a kit: reads what is in the document, and draws it. */
import "../../zod-settings.ts";

import { PortalError, toPortalError } from "@relicario/shared/errors";
import type { VaultProgress } from "@relicario/shared/contract";

import { ageCommands, identityCommand } from "../commands.ts";
import { besideName, kitElement, parseKit, partElement, type Kit } from "../kit-document.ts";
import { takesPassphrase } from "../open-kit.ts";
import type { ShownSecret } from "../kit-worker-api.ts";
import { button, make, quieten, say, spoken } from "./dom.ts";
import { errorKey } from "./error-key.ts";
import { startKitWorker, type KitWorker } from "./opening.ts";
import { dateOf, secretView } from "./secret-view.ts";
import { changeLanguage, speak } from "./speech.ts";
import type { TextKey } from "./texts.ts";

const main = document.querySelector("main") ?? document.body;
draw();

function draw(): void {
  speak(document.documentElement, (text, language) => {
    document.documentElement.lang = language;
    document.title = text("title");
  });
  const kit = readDocument();
  const head = make(
    "header",
    {},
    spoken("h1", "title"),
    button("language_action", changeLanguage, { class: "quiet", lang: "" }),
  );
  speak(head, (_, language) => {
    head.querySelector("button")?.setAttribute("lang", language === "en" ? "es" : "en");
  });
  main.replaceChildren(head);
  if (kit instanceof PortalError) main.append(spoken("p", errorKey(kit), {}, { role: "alert", class: "error" }));
  else main.append(spoken("p", "lead_body", {}, { class: "lead" }), about(kit), opening(kit), withoutThisPage(kit));
}

function readDocument(): (Kit & { readonly passphrase: boolean }) | PortalError {
  const element = document.getElementById(kitElement);
  try {
    const kit = parseKit((element?.textContent ?? "").replaceAll(/^\n|\n$/g, ""), element?.dataset["sha256"] ?? "");
    return { ...kit, passphrase: takesPassphrase(kit) };
  } catch (error) {
    return toPortalError(error);
  }
}

function about(kit: Kit & { readonly passphrase: boolean }): HTMLElement {
  const beside = kit.secrets.filter(({ content }) => content === null).map(({ secret_id: id }) => besideName(id));
  const fact = (key: TextKey, ...value: readonly HTMLElement[]): HTMLElement =>
    make("div", {}, spoken("dt", key), ...value);
  return make(
    "section",
    { class: "card", "aria-labelledby": "about" },
    spoken("h2", "about_title", {}, { id: "about" }),
    kit.note === "" ? null : make("figure", {}, spoken("figcaption", "note_title"), make("blockquote", {}, kit.note)),
    make(
      "dl",
      {},
      fact("made_title", dateOf(kit.made_at)),
      fact("count_title", spoken("dd", "count_body", { count: String(kit.secrets.length) })),
      fact("needed_title", spoken("dd", kit.passphrase ? "needed_passphrase_body" : "needed_body")),
      beside.length === 0
        ? null
        : fact(
            "beside_title",
            make(
              "dd",
              {},
              spoken("p", "beside_body"),
              make("ul", {}, ...beside.map((name) => make("li", {}, make("code", {}, name)))),
            ),
          ),
    ),
    kit.passphrase ? null : spoken("p", "open_body", {}, { class: "warn" }),
  );
}

/** The form, and below it what is open. */
function opening(kit: Kit & { readonly passphrase: boolean }): HTMLElement {
  const file = make("input", {
    type: "file",
    id: "picture",
    accept: "image/*,.heic,.heif,.avif",
    "aria-describedby": "picture-hint picture-name",
  });
  const chosen = make("p", { id: "picture-name", class: "chosen" });
  const zone = make(
    "div",
    { class: "field drop" },
    spoken("label", "picture_label", {}, { for: "picture" }),
    spoken("p", hintOf(), {}, { id: "picture-hint", class: "hint" }),
    file,
    chosen,
  );
  const passphrase = make("input", {
    type: "password",
    id: "passphrase",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    "aria-describedby": "passphrase-hint",
  });
  const submit = spoken("button", "open_action", {}, { type: "submit" });
  const cancel = button("cancel_action", () => controller?.abort(), { class: "quiet", hidden: "" });
  const status = make("p", { role: "status" });
  const bar = make("progress", { max: "1", hidden: "" });
  speak(bar, (text) => {
    bar.setAttribute("aria-label", text("opening_status"));
  });
  const error = make("p", { role: "alert", class: "error" });
  const results = make("div");
  let picture: Blob | null = null;
  let controller: AbortController | null = null;
  let worker: KitWorker | null = null;

  const take = (given: File | undefined): void => {
    if (given === undefined || controller !== null) return;
    picture = given;
    say(chosen, "picture_chosen", { name: given.name });
    quieten(error);
  };
  file.addEventListener("change", () => {
    take(file.files?.[0]);
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
    take(event.dataTransfer?.files[0]);
  });

  const busy = (running: boolean): void => {
    submit.disabled = file.disabled = passphrase.disabled = running;
    cancel.hidden = bar.hidden = !running;
    if (!running) quieten(status);
  };
  const tell = ({ phase, step, done, total }: VaultProgress): void => {
    if (controller?.signal.aborted !== false) return;
    say(status, statusKey(phase, step));
    if (total > 0) bar.value = done / total;
  };
  const putAway = (): void => {
    worker?.end();
    worker = null;
    results.replaceChildren();
    form.hidden = false;
    picture = null;
    file.value = passphrase.value = "";
    quieten(chosen);
    file.focus();
  };
  const show = (running: KitWorker, secrets: readonly (ShownSecret | null)[]): void => {
    const open = secrets.filter((secret) => secret !== null).length;
    const heading = spoken(
      "h2",
      open === 1 ? "opened_title_one" : "opened_title_other",
      { count: String(open) },
      { tabindex: "-1" },
    );
    const views = secrets.map((secret, index) =>
      secret === null
        ? make(
            "article",
            { class: "card" },
            spoken("h3", "damaged_title"),
            spoken("p", "damaged_body", {}, { class: "error" }),
          )
        : secretView(secret, {
            inside: () => running.orGone(running.remote.content(index)),
            beside: (sealed) => running.orGone(running.remote.beside(index, sealed)),
          }),
    );
    results.replaceChildren(
      heading,
      ...views,
      make("div", { class: "row" }, button("away_action", putAway, { class: "quiet" })),
      spoken("p", "away_hint", {}, { class: "hint" }),
    );
    form.hidden = true;
    heading.focus();
  };

  const open = async (): Promise<void> => {
    const missing =
      picture === null ? "error_no_picture" : kit.passphrase && passphrase.value === "" ? "error_no_passphrase" : null;
    quieten(error);
    if (missing !== null || picture === null) {
      say(error, missing ?? "error_no_picture");
      (missing === "error_no_passphrase" ? passphrase : file).focus();
      return;
    }
    controller = new AbortController();
    busy(true);
    bar.value = 0;
    say(status, "starting_status");
    try {
      worker ??= await startKitWorker();
      const { passphrase: takes, ...plain } = kit;
      const secrets = await worker.orGone(
        worker.remote.open(plain, picture, takes ? passphrase.value : null, {
          signal: controller.signal,
          onProgress: tell,
        }),
      );
      passphrase.value = "";
      show(worker, secrets);
    } catch (cause) {
      const failure = toPortalError(cause);
      if (failure.code === "unknown" || failure.code === "vault_unavailable") {
        worker?.end(); // the next try starts a new one
        worker = null;
      }
      if (failure.code !== "cancelled") say(error, errorKey(failure));
    } finally {
      controller = null;
      busy(false);
    }
  };

  const form = make(
    "form",
    { class: "card", "aria-labelledby": "form-title", novalidate: "" },
    spoken("h2", "form_title", {}, { id: "form-title" }),
    zone,
    kit.passphrase
      ? make(
          "div",
          { class: "field" },
          spoken("label", "passphrase_label", {}, { for: "passphrase" }),
          spoken("p", "passphrase_hint", {}, { id: "passphrase-hint", class: "hint" }),
          passphrase,
          reveal(passphrase),
        )
      : null,
    make("div", { class: "row" }, submit, cancel),
    bar,
    status,
    error,
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void open();
  });
  return make("div", {}, form, results);
}

function reveal(field: HTMLInputElement): HTMLElement {
  const toggle = button(
    "show_passphrase_action",
    () => {
      const hidden = field.type === "password";
      field.type = hidden ? "text" : "password";
      say(toggle, hidden ? "hide_passphrase_action" : "show_passphrase_action");
    },
    { class: "quiet" },
  );
  return toggle;
}

function hintOf(): TextKey {
  const own = (["avif", "heic"] as const).find((name) => document.getElementById(partElement(name)) !== null);
  return own === undefined ? "picture_hint" : `picture_hint_${own}`;
}

function statusKey(phase: VaultProgress["phase"], step: VaultProgress["step"]): TextKey {
  if (phase === "passphrase") return "passphrase_status";
  if (phase !== "picture") return "opening_status";
  return step === "searching" ? "searching_status" : step === "straight" ? "straight_status" : "decoding_status";
}

function withoutThisPage(kit: Kit): HTMLElement {
  const code = (commands: string): HTMLElement => make("pre", { tabindex: "0", class: "commands" }, commands);
  const labelled = (element: HTMLElement): HTMLElement => {
    element.setAttribute("role", "group");
    speak(
      element,
      (text) => {
        element.setAttribute("aria-label", text("age_title"));
      },
      "label",
    );
    return element;
  };
  return make(
    "details",
    { class: "card" },
    make("summary", {}, spoken("h2", "age_title")),
    spoken("p", "age_body"),
    labelled(code(identityCommand)),
    spoken("p", "age_more_body"),
    labelled(code(ageCommands)),
    kit.secrets.some(({ content }) => content === null) ? spoken("p", "age_beside_body") : null,
    spoken("h3", "digest_title"),
    spoken("p", "digest_body"),
    labelled(code("sha256sum kit.html")),
  );
}
