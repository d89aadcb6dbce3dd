/**
 * What a script of the portal's page can do to the vault's elements. As in hostile-remote.ts, each
 * function runs in the page and uses nothing around it.
 */
interface ElementAttackGlobals {
  elementAttack?: {
    /** Everything that documents of the vault's origin post to the page, as JSON. */
    readonly messages: string[];
    /** What arrived at an imitation of the controller. */
    readonly arrivals: string[];
    /** What arrived at the page's ports. */
    readonly portArrivals: string[];
    readonly heldIds: string[];
    /** Calls a service of a frame; null when it refuses. */
    readonly call: (
      frame: Window,
      service: string,
      path: readonly string[],
      args: readonly unknown[],
    ) => Promise<unknown>;
  };
}

/**
 * Listens to the vault's documents, and imitates the controller in the page and in a frame of it
 * that comes before all others.
 */
export function watchElements(vaultOrigin: string): void {
  const globals = globalThis as typeof globalThis & ElementAttackGlobals;
  const messages: string[] = [];
  const arrivals: string[] = [];
  const heldIds: string[] = [];
  addEventListener("message", ({ data, origin }: MessageEvent<Record<string, unknown>>) => {
    if (origin !== vaultOrigin) return;
    messages.push(JSON.stringify(data));
    const { path, args } = data;
    if (!Array.isArray(path) || !Array.isArray(args)) return;
    const [member] = path as unknown[];
    const [first] = args as unknown[];
    if (member === "change") {
      const { heldId } = first as { readonly heldId: string | null };
      if (heldId !== null) heldIds.push(heldId);
    }
  });
  const relicarioController = {
    connect: () => {
      arrivals.push("a call of connect()");
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = ({ data }) => {
        arrivals.push(JSON.stringify(data));
      };
      return Promise.resolve({ port: port2, record: {}, branding: {}, drives: {} });
    },
  };
  Object.assign(globalThis, { relicarioController });
  const imitation = document.createElement("iframe");
  document.body.prepend(imitation);
  Object.assign(imitation.contentWindow ?? {}, { relicarioController });

  let lastId = 1_000_000; // above the ids of the page's own calls
  globals.elementAttack = {
    messages,
    arrivals,
    portArrivals: [],
    heldIds,
    call: (frame, service, path, args) =>
      new Promise((resolve) => {
        const id = ++lastId;
        const listener = ({ source, data }: MessageEvent<Record<string, unknown>>): void => {
          if (source !== frame || data["id"] !== id || data["kind"] === "call") return;
          removeEventListener("message", listener);
          resolve(data["kind"] === "result" ? (data["value"] ?? null) : null);
        };
        addEventListener("message", listener);
        frame.postMessage({ relicario: "channel", kind: "call", id, service, path, args, options: [] }, vaultOrigin);
      }),
  };
}

/** Everything that the page learned of elements, as text. */
export function readWatched(): readonly string[] {
  const { messages = [], arrivals = [] } = (globalThis as ElementAttackGlobals).elementAttack ?? {};
  return [...messages, ...arrivals];
}

/** What the imitated controller received. */
export function readArrivals(): readonly string[] {
  return (globalThis as ElementAttackGlobals).elementAttack?.arrivals ?? [];
}

/** How many held inputs the elements have told. */
export function countHeldInputs(): number {
  return (globalThis as ElementAttackGlobals).elementAttack?.heldIds.length ?? 0;
}

/** Offers ports to each frame of the vault. What arrives there is in {@link readPortArrivals}. */
export async function brokerPorts(vaultOrigin: string): Promise<void> {
  const { call, portArrivals } = (globalThis as ElementAttackGlobals).elementAttack ?? {};
  if (call === undefined) throw new TypeError("nothing watches the elements");
  const message = { relicario: "channel", kind: "call", args: [], options: [] };
  for (const frame of document.querySelectorAll("iframe")) {
    if (frame.contentWindow === null || new URL(frame.src || "about:blank").origin !== vaultOrigin) continue;
    for (const offer of [
      { relicario: "connect" },
      { relicario: "vault-ready" },
      { ...message, id: 900_000, service: "frame", path: ["connect"] },
      { ...message, id: 900_001, service: "openers", path: ["hold"] },
    ]) {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = ({ data }) => {
        portArrivals?.push(JSON.stringify(data));
      };
      frame.contentWindow.postMessage(offer, vaultOrigin, [port2]);
      port1.postMessage({ ...message, id: 1, service: "element", path: ["lock"] });
    }
    await call(frame.contentWindow, "frame", ["nothing"], []); // answered after the messages before it
  }
}

export function readPortArrivals(): readonly string[] {
  return (globalThis as ElementAttackGlobals).elementAttack?.portArrivals ?? [];
}

/**
 * Sends to each frame of the vault what an element sends to the controller, and the other way
 * round. Returns what it answered.
 */
export async function forgeMessages(vaultOrigin: string): Promise<string | null> {
  const { call, heldIds = [] } = (globalThis as ElementAttackGlobals).elementAttack ?? {};
  if (call === undefined || heldIds.length === 0) throw new TypeError("no element holds anything");
  const calls: (readonly [service: string, path: readonly string[], args: readonly unknown[]])[] = [
    ["openers", ["hold"], [{ opener: null, draft: null }]],
    ["openers", ["hasOwnProperty"], ["hold"]],
    ["openers", ["constructor", "keys"], [{}]],
    ["vault", ["generateRecoveryCode"], [1]],
    ["vault", ["examine"], [1, new Blob(["picture"]), {}]],
    ["vault", ["run"], [1, ["openers", "getDraft"], [], heldIds.at(-1)]],
    ["vault", ["run"], [1, ["generateRecoveryCode"], []]],
    ["elementPage", ["start"], []],
    ...heldIds.flatMap((id) =>
      ["openers", "vault", "visitor", "element", "frame"].map((service) => [service, ["getDraft"], [id]] as const),
    ),
  ];
  for (const frame of document.querySelectorAll("iframe")) {
    if (frame.contentWindow === null || new URL(frame.src || "about:blank").origin !== vaultOrigin) continue;
    for (const [service, path, args] of calls) {
      const answer = await call(frame.contentWindow, service, path, args);
      if (answer !== null) return `${service}.${path.join(".")}: ${JSON.stringify(answer)}`;
    }
  }
  return null;
}

/**
 * Frames elements of its own, of several kinds, that continue what the person's element holds.
 * Their messages are in {@link readWatched}. Returns what can be read of them directly.
 */
export async function frameOwnElements(vaultOrigin: string): Promise<string | null> {
  const { heldIds = [] } = (globalThis as ElementAttackGlobals).elementAttack ?? {};
  const heldId = heldIds.at(-1);
  if (heldId === undefined) throw new TypeError("no element holds anything");
  const picture = { kind: "picture", pictureOnly: false, keepsDraft: true, search: { previous: null } };
  for (const field of [
    { ...picture, purpose: "show" },
    { ...picture, purpose: "choose" },
    { kind: "new_passphrase" },
    { kind: "new_recovery_code" },
  ]) {
    const frame = document.createElement("iframe");
    frame.src = `${vaultOrigin}/element#portal=${encodeURIComponent(location.origin)}`;
    frame.style.cssText = "position: fixed; inset: 0; width: 100%; height: 100%";
    const settings = { language: "en", theme: "light", disabled: false, userName: "", vaultId: 1, heldId, field };
    const sized = new Promise((resolve) => {
      addEventListener("message", ({ source, data }: MessageEvent<Record<string, unknown>>) => {
        if (source !== frame.contentWindow || data["kind"] !== "call") return;
        const [member] = data["path"] as readonly string[];
        frame.contentWindow?.postMessage(
          { relicario: "channel", kind: "result", id: data["id"], value: member === "start" ? settings : null },
          vaultOrigin,
        );
        if (member === "resize" || member === "fail") resolve(member);
      });
    });
    document.body.append(frame);
    await sized;
    let text: string | undefined;
    try {
      text = frame.contentWindow?.document.body.innerText;
    } catch {
      text = undefined; // another origin
    }
    frame.remove();
    if (text !== undefined) return text;
  }
  return null;
}

/** Presses and fills an element without the person. Returns what it told afterwards. */
export async function clickElementByScript(): Promise<string | null> {
  const { call, messages = [] } = (globalThis as ElementAttackGlobals).elementAttack ?? {};
  const frame = document.querySelector<HTMLIFrameElement>("iframe[data-vault-element]");
  if (call === undefined || frame?.contentWindow == null) throw new TypeError("there is no element");
  const countBefore = messages.length;
  const { left, top, width, height } = frame.getBoundingClientRect();
  for (const part of Array.from({ length: 40 }).keys()) {
    const place = { clientX: left + width / 4, clientY: top + ((part + 0.5) * height) / 40 };
    const target = document.elementFromPoint(place.clientX, place.clientY) ?? frame;
    for (const type of ["pointerdown", "mousedown", "pointerup", "mouseup", "click"])
      target.dispatchEvent(new MouseEvent(type, { ...place, bubbles: true, cancelable: true, composed: true }));
  }
  frame.focus();
  for (const key of ["Tab", "Enter", " ", "a"]) {
    for (const type of ["keydown", "keypress", "keyup"]) {
      frame.dispatchEvent(new KeyboardEvent(type, { key, bubbles: true, composed: true }));
      document.dispatchEvent(new KeyboardEvent(type, { key, bubbles: true, composed: true }));
    }
  }
  const transfer = new DataTransfer();
  transfer.items.add(new File(["picture"], "picture.png", { type: "image/png" }));
  frame.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, composed: true }));
  frame.blur();
  await call(frame.contentWindow, "element", ["nothing"], []);
  const told = messages.slice(countBefore).filter((message) => /"(?:change|submit|cancel|search)"/.test(message));
  return told.length === 0 ? null : told.join();
}

/**
 * Reads what is selected, and searches as the browser does for a person. Returns the words if it
 * finds most of them.
 *
 * @throws TypeError when it does not even find the page's own heading
 */
export function searchScreen(words: readonly string[]): string | null {
  getSelection()?.selectAllChildren(document.body);
  const selection = String(getSelection());
  getSelection()?.removeAllRanges();
  const isFound = (text: string): boolean => {
    if (selection.includes(text) || document.body.innerText.includes(text)) return true;
    const find = Reflect.get(globalThis, "find") as (text: string, ...options: readonly boolean[]) => boolean;
    try {
      return find(text, false, false, true, false, true); // in frames too
    } catch {
      return false; // Firefox refuses while a frame of another origin has the focus
    }
  };
  if (!isFound(document.querySelector("h1")?.innerText ?? "no heading"))
    throw new TypeError("the search finds nothing");
  const found = words.filter(isFound);
  getSelection()?.removeAllRanges();
  return found.length > words.length / 2 ? found.join(" ") : null; // the page itself uses some of the words
}

/** Puts its own documents in place of an element, and removes it. Returns what they get. */
export async function replaceElement(vaultOrigin: string): Promise<string | null> {
  const frame = document.querySelector<HTMLIFrameElement>("iframe[data-vault-element]");
  if (frame === null) throw new TypeError("there is no element");
  const loaded = new Promise((resolve) => {
    frame.onload = resolve;
  });
  frame.src = `${location.origin}/healthz`;
  await loaded;
  const taken: string[] = [];
  const own = frame.contentWindow;
  if (own?.location.pathname !== "/healthz") throw new TypeError("the frame was not replaced");
  own.addEventListener("message", ({ data }) => {
    taken.push(JSON.stringify(data));
  });
  for (let index = 0; index < frames.length; index++) {
    try {
      const found = (own.parent[index] as { relicarioController?: unknown } | undefined)?.relicarioController;
      if (found !== undefined && found !== Reflect.get(globalThis, "relicarioController"))
        taken.push(`controller in frame ${String(index)}`);
    } catch {
      continue; // another origin
    }
  }
  const back = new Promise((resolve) => {
    frame.onload = resolve;
  });
  frame.src = `${vaultOrigin}/element#portal=${encodeURIComponent(location.origin)}`;
  await back;
  frame.remove();
  return taken.length === 0 ? null : taken.join();
}

/** Takes the focus whenever an element has it, so that the next keys come here. */
export function stealFocus(): void {
  const trap = document.createElement("input");
  trap.id = "focus-trap";
  document.body.append(trap);
  setInterval(() => {
    if (document.activeElement?.matches("iframe[data-vault-element]")) trap.focus();
  }, 50);
  // WebKit does not say which frame has the focus
  addEventListener("message", ({ data }: MessageEvent<Record<string, unknown>>) => {
    if (Array.isArray(data["path"]) && data["path"][0] === "change") trap.focus();
  });
  addEventListener("keydown", ({ key }) => {
    if (key.length === 1) trap.dataset["keys"] = (trap.dataset["keys"] ?? "") + key;
  });
}

export function readTrap(): string {
  return document.querySelector<HTMLElement>("#focus-trap")?.dataset["keys"] ?? "";
}

/** Lays fields of its own over the element, with the same labels. */
export function imitateElement(): void {
  const element = document.querySelector("iframe[data-vault-element]");
  if (element === null) throw new TypeError("there is no element");
  const { left, top, width, height } = element.getBoundingClientRect();
  const cover = document.createElement("div");
  cover.id = "imitation";
  cover.style.cssText = `position: fixed; left: ${String(left)}px; top: ${String(top)}px; width: ${String(width)}px;
    height: ${String(height)}px; background: white; z-index: 10000`;
  for (const [label, type] of [
    ["Picture file", "file"],
    ["Passphrase, if the picture has one", "password"],
  ] as const) {
    const input = document.createElement("input");
    input.type = type;
    input.ariaLabel = label;
    cover.append(input);
  }
  document.body.append(cover);
}

/** Size of the chosen picture in bytes, and the passphrase. */
export function readImitation(): { readonly size: number; readonly passphrase: string } {
  const [file, passphrase] = document.querySelectorAll<HTMLInputElement>("#imitation input");
  return { size: file?.files?.[0]?.size ?? 0, passphrase: passphrase?.value ?? "" };
}
