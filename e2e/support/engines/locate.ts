import type { Target } from "./engine.ts";

/** Milliseconds. */
export const waitLimit = 120_000;
export const pollInterval = 150;
/** Between the keys of a person. */
export const keyInterval = 50;

/** Runs in a document; returns the first element that matches and that a person can reach. */
export function findElement({ kind, name }: Target): Element | null {
  const selectors: Record<Target["kind"], string> = {
    button: "button, [role=button]",
    link: "a[href]",
    menuitem: "[role=menuitem]",
    field: "input:not([type=file], [type=radio], [type=checkbox]), textarea",
    file: "input[type=file]",
    choice: "input[type=radio], input[type=checkbox]",
    text: "body *",
  };
  const pattern = new RegExp(name, "u");
  const readName = (element: Element): string => {
    const label = element.getAttribute("aria-label");
    if (label !== null) return label;
    const ids = element.getAttribute("aria-labelledby")?.split(" ") ?? [];
    if (ids.length > 0) return ids.map((id) => document.getElementById(id)?.textContent ?? "").join(" ");
    if ((element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) && element.labels?.length)
      return [...element.labels].map((part) => part.textContent).join(" ");
    if (kind !== "text") return element.textContent;
    return [...element.childNodes].map((node) => (node instanceof Text ? node.data : "")).join("");
  };
  const mayBeHidden = kind === "file" || kind === "choice";
  /** Not below something else, such as a dialog that is closing. */
  const isReachable = (element: Element): boolean => {
    if (kind === "text" || mayBeHidden) return true;
    element.scrollIntoView({ block: "center", behavior: "instant" });
    const { left, top, width, height } = element.getBoundingClientRect();
    const hit = document.elementFromPoint(left + width / 2, top + height / 2);
    return hit !== null && (element.contains(hit) || hit.contains(element));
  };
  for (const element of document.querySelectorAll(selectors[kind]))
    if (
      pattern.test(readName(element).trim()) &&
      !element.matches(":disabled") &&
      (mayBeHidden || element.checkVisibility()) &&
      isReachable(element) && // in sight, where the guard of an element needs it
      !element.matches("[aria-disabled=true]")
    )
      return element;
  return null;
}

/** Tries again until there is a result. @throws Error that names what was awaited */
export async function poll<T>(awaited: string, attempt: () => Promise<T | null>): Promise<T> {
  const deadline = performance.now() + waitLimit;
  for (;;) {
    const result = await attempt();
    if (result !== null) return result;
    if (performance.now() > deadline) throw new Error(`There is no ${awaited}.`);
    await new Promise((resolve) => setTimeout(resolve, pollInterval));
  }
}

/** Tries again when the element or its document was replaced meanwhile, too. */
export async function act(target: Target, attempt: () => Promise<true | null>): Promise<void> {
  let lastError: unknown = null;
  await poll(describeTarget(target), async () => {
    try {
      return await attempt();
    } catch (error) {
      lastError = error;
      return null;
    }
  }).catch((cause: unknown) => {
    throw new Error(String(lastError ?? cause), { cause });
  });
}

export function describeTarget({ kind, name }: Target): string {
  return `${kind} /${name}/`;
}
