import { expectAccessible, renderApp } from "@relicario/shared/testing";
import { act, fireEvent, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { countsPress, GuardedButton, sightMilliseconds } from "../openers/GuardedButton.tsx";
import { ElementGuard } from "./ElementGuard.tsx";
import { guardFocus, type FocusLoss } from "./guard-focus.ts";

let observed: {
  readonly callback: (entries: readonly object[], observer: object) => void;
  readonly options: object | undefined;
}[] = [];

beforeEach(() => {
  observed = [];
  // jsdom has no IntersectionObserver
  globalThis.IntersectionObserver = class {
    constructor(callback: (entries: readonly object[], observer: object) => void, options?: object) {
      observed.push({ callback, options });
    }
    observe = () => undefined;
    disconnect = () => undefined;
  } as unknown as typeof IntersectionObserver;
  jest.spyOn(window, "focus").mockImplementation(() => undefined); // jsdom has no windows to focus
});

afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

describe("guardFocus", () => {
  const { documentElement } = document;
  let losses: FocusLoss[];
  let time: number;
  let stop: () => void;
  let field: HTMLInputElement;

  beforeEach(() => {
    jest.useFakeTimers();
    losses = [];
    time = 0;
    document.body.innerHTML = "<input type='password' /><textarea></textarea><button>Other</button>";
    stop = guardFocus({ onTaken: (loss) => losses.push(loss) });
    field = getByTag("input");
    field.focus();
  });

  afterEach(() => {
    stop();
    fireEvent(documentElement, new Event("pointerleave"));
    document.body.innerHTML = "";
  });

  const getByTag = <Tag extends keyof HTMLElementTagNameMap>(tag: Tag): HTMLElementTagNameMap[Tag] => {
    const element = document.querySelector(tag);
    if (element === null) throw new TypeError(`there is no ${tag}`);
    return element;
  };
  const fireNow = (target: EventTarget, event: Event) => {
    Object.defineProperty(event, "timeStamp", { value: time });
    target.dispatchEvent(event);
  };
  const press = (key: string, modifiers: KeyboardEventInit = {}) => {
    const target = document.activeElement ?? document.body;
    fireNow(target, new KeyboardEvent("keydown", { key, bubbles: true, ...modifiers }));
  };
  /** Moves the focus into the page, as its script does. */
  const takeFocus = () => {
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    jest.spyOn(document, "hasFocus").mockReturnValue(false);
    fireNow(window, new Event("blur"));
    jest.runAllTimers();
  };

  it("takes back a focus that was lost in the middle of a word", () => {
    press("a");
    time += 60;
    takeFocus();
    expect(losses).toEqual(["returned"]);
    expect(window.focus).toHaveBeenCalledTimes(1);
    expect(document.activeElement).toBe(field);
  });

  it("takes it back into a text area, too", () => {
    getByTag("textarea").focus();
    press("a");
    takeFocus();
    expect(document.activeElement).toBe(getByTag("textarea"));
  });

  it("takes it back after any time while the pointer is over the element", () => {
    fireEvent(documentElement, new Event("pointerenter"));
    press("a");
    time += 60_000;
    takeFocus();
    expect(losses).toEqual(["returned"]);
  });

  it.each([
    ["Tab", {}],
    ["Enter", {}],
    ["Escape", {}],
    ["F6", {}],
    ["Alt", { altKey: true }],
    ["l", { ctrlKey: true }],
    ["Meta", { metaKey: true }],
  ] as const)("lets it go after the key %s %j", (key, modifiers) => {
    fireEvent(documentElement, new Event("pointerenter"));
    press("a");
    press(key, modifiers);
    takeFocus();
    expect(losses).toEqual([]);
    expect(window.focus).not.toHaveBeenCalled();
  });

  it("lets it go after a pause, in which a hand may have pressed something in the page", () => {
    press("a");
    time += 501;
    takeFocus();
    expect(losses).toEqual([]);
  });

  it("lets it go when the pointer has left the element, after the same pause", () => {
    fireEvent(documentElement, new Event("pointerenter"));
    press("a");
    fireEvent(documentElement, new Event("pointerleave"));
    time += 501;
    takeFocus();
    expect(losses).toEqual([]);
  });

  it("lets it go when a frame inside the element has it, or the page is no longer in view", () => {
    press("a");
    jest.spyOn(document, "hasFocus").mockReturnValue(true);
    fireNow(window, new Event("blur"));
    jest.runAllTimers();
    jest.spyOn(document, "visibilityState", "get").mockReturnValue("hidden");
    takeFocus();
    expect(losses).toEqual([]);
  });

  it("lets it go from what takes no text, and from a field that is gone", () => {
    press("a");
    fireEvent(getByTag("button"), new Event("pointerdown", { bubbles: true }));
    takeFocus();
    field.focus();
    press("a");
    field.remove();
    takeFocus();
    expect(losses).toEqual([]);
  });

  it("gives up after three times, until the person presses in the element", () => {
    press("a");
    for (let times = 0; times < 4; times++) takeFocus();
    expect(losses).toEqual(["returned", "returned", "returned", "given_up"]);
    expect(window.focus).toHaveBeenCalledTimes(3);
    takeFocus();
    expect(losses).toHaveLength(4);
    fireEvent(field, new Event("pointerdown", { bubbles: true }));
    field.focus();
    press("b");
    takeFocus();
    expect(losses.at(-1)).toBe("returned");
  });

  it("does nothing once it is stopped", () => {
    press("a");
    jest.spyOn(document, "hasFocus").mockReturnValue(false);
    fireNow(window, new Event("blur"));
    stop();
    jest.runAllTimers();
    takeFocus();
    expect(losses).toEqual([]);
  });
});

describe("ElementGuard", () => {
  interface Given {
    readonly tracksCover?: boolean;
    readonly language?: "en" | "es";
  }

  async function renderGuard({ tracksCover = false, language = "en" }: Given = {}) {
    const presses: string[] = [];
    const { container } = await renderApp(
      <main>
        <ElementGuard tracksCover={tracksCover}>
          <label>
            Words <input />
          </label>
          <GuardedButton onClick={() => presses.push("press")}>Yes</GuardedButton>
        </ElementGuard>
      </main>,
      { language },
    );
    const button = await screen.findByRole("button", { name: "Yes" });
    jest.useFakeTimers();
    const changeSight = (entry: object) => {
      act(() => {
        observed.at(-1)?.callback([{ time: performance.now(), ...entry }], {});
      });
    };
    const pass = (milliseconds: number) => {
      act(() => {
        jest.advanceTimersByTime(milliseconds);
      });
    };
    return { container, presses, button, changeSight, pass };
  }

  it("disables what must not be pressed by accident until it was in sight for half a second", async () => {
    const { button, changeSight, pass } = await renderGuard();
    expect(observed[0]?.options).toEqual({});
    pass(60_000);
    expect(button).toHaveAttribute("aria-disabled", "true");
    changeSight({ isIntersecting: true });
    pass(sightMilliseconds - 1);
    expect(button).toHaveAttribute("aria-disabled", "true");
    pass(1);
    expect(button).not.toHaveAttribute("aria-disabled");
    changeSight({ isIntersecting: false });
    pass(60_000);
    expect(button).toHaveAttribute("aria-disabled", "true");
  });

  it("starts the half second again when it was out of sight", async () => {
    const { button, changeSight, pass } = await renderGuard();
    changeSight({ isIntersecting: true });
    pass(sightMilliseconds - 1);
    changeSight({ isIntersecting: false });
    changeSight({ isIntersecting: true });
    pass(sightMilliseconds - 1);
    expect(button).toHaveAttribute("aria-disabled", "true");
  });

  it("takes what is covered as out of sight where that is asked for and the browser can tell", async () => {
    const { button, changeSight, pass } = await renderGuard({ tracksCover: true });
    expect(observed[0]?.options).toEqual({ trackVisibility: true, delay: 100 });
    changeSight({ isIntersecting: true, isVisible: false });
    pass(60_000);
    expect(button).toHaveAttribute("aria-disabled", "true");
    changeSight({ isIntersecting: true, isVisible: true });
    pass(sightMilliseconds);
    expect(button).not.toHaveAttribute("aria-disabled");
    changeSight({ isIntersecting: true });
    pass(sightMilliseconds);
    expect(button).not.toHaveAttribute("aria-disabled");
  });

  it.each([
    ["en", /did not count/],
    ["es", /no contó/],
  ] as const)("ignores a press by script, and says so: %s", async (language, sentence) => {
    const { container, presses, button, changeSight, pass } = await renderGuard({ language });
    changeSight({ isIntersecting: true });
    pass(sightMilliseconds);
    act(() => {
      button.click();
    });
    expect(presses).toEqual([]);
    expect(screen.getByRole("alert")).toHaveTextContent(sentence);
    jest.useRealTimers();
    await expectAccessible(container);
  });

  it.each([
    ["en", /took the keyboard away/, /keeps taking the keyboard away/],
    ["es", /quitó el teclado/, /quita el teclado una y otra vez/],
  ] as const)("says that the focus was taken, and when it gives up: %s", async (language, taken, givenUp) => {
    const { container, pass } = await renderGuard({ language });
    const takeFocus = () => {
      fireEvent(window, new Event("blur"));
      pass(1);
    };
    screen.getByRole("textbox").focus();
    fireEvent(document.documentElement, new Event("pointerenter"));
    jest.spyOn(document, "hasFocus").mockReturnValue(false);
    takeFocus();
    expect(screen.getByRole("alert")).toHaveTextContent(taken);
    for (let times = 0; times < 3; times++) takeFocus();
    jest.useRealTimers();
    await expectAccessible(container);
    expect(screen.getByRole("alert")).toHaveTextContent(givenUp);
  });
});

describe("countsPress", () => {
  it.each([
    ["trusted, after half a second", { isTrusted: true, timeStamp: 1500 }, 1000, true],
    ["by script", { isTrusted: false, timeStamp: 9000 }, 1000, false],
    ["too early, even if it is handled late", { isTrusted: true, timeStamp: 1499 }, 1000, false],
    ["made before the element was in sight", { isTrusted: true, timeStamp: 900 }, 1000, false],
    ["out of sight", { isTrusted: true, timeStamp: 9000 }, null, false],
  ] as const)("%s", (_, press, inSightSince, expected) => {
    expect(countsPress(press, { inSightSince })).toBe(expected);
  });
});

it("presses count outside an element, where nothing guards them", async () => {
  const presses: string[] = [];
  await renderApp(<GuardedButton onClick={() => presses.push("press")}>Yes</GuardedButton>);
  await userEvent.click(screen.getByRole("button", { name: "Yes" }));
  expect(presses).toEqual(["press"]);
});
