import { nameOfNode, placeOfCall, replace, type Account, type Held } from "./held.ts";

interface Attached {
  readonly target: EventTarget;
  readonly type: string;
  readonly callback: EventListenerOrEventListenerObject;
  readonly capture: boolean;
  readonly signal: AbortSignal | undefined;
  readonly place: () => string;
  /** Takes back what tells that a listener for one time has run. */
  readonly forgetOnce: () => void;
}

type Add = typeof EventTarget.prototype.addEventListener;
type Remove = typeof EventTarget.prototype.removeEventListener;

/**
 * Listeners of all that is still there when a screen has gone: window, document, its html, head and
 * body, media queries, and what belongs to the browser. Those of a screen's own elements go with
 * them. One that a signal took away, or that was for one time and has run, is none; `onresize = …`
 * counts when it is another function each time.
 */
export function watchListeners(): Account {
  const lasting = lastingTargets();
  const handlers = new Map(
    [...lasting].map(([target, name]) => [
      target,
      { name, members: handlerMembers(target), seen: new Map<string, Set<unknown>>() },
    ]),
  );
  const attached = new Set<Attached>();
  const isThere = ({ signal }: Attached) => signal?.aborted !== true;
  const find = (target: EventTarget, type: string, callback: unknown, capture: boolean) =>
    [...attached].find(
      (one) =>
        one.target === target &&
        one.type === type &&
        one.callback === callback &&
        one.capture === capture &&
        isThere(one),
    );
  const forget = (one: Attached) => {
    attached.delete(one);
    one.forgetOnce();
  };

  const adding = (add: Add, remove: Remove): Add =>
    function (this: EventTarget | undefined, type, callback, options) {
      const target = this ?? window;
      const capture = captures(options);
      const { once = false, signal } = typeof options === "object" ? options : {};
      const isNew =
        callback !== null &&
        isLasting(target, lasting) &&
        signal?.aborted !== true &&
        find(target, type, callback, capture) === undefined;
      if (isNew) {
        // Stands right before the listener, so that it is called exactly when that is.
        const ran = () => attached.delete(one);
        const one: Attached = {
          target,
          type,
          callback,
          capture,
          signal,
          place: placeOfCall(),
          forgetOnce: () => Reflect.apply(remove, target, [type, ran, capture]),
        };
        if (once) Reflect.apply(add, target, [type, ran, { capture, once }]);
        attached.add(one);
      }
      Reflect.apply(add, target, [type, callback, options]);
    };
  const removing = (remove: Remove): Remove =>
    function (this: EventTarget | undefined, type, callback, options) {
      const target = this ?? window;
      const one = find(target, type, callback, captures(options));
      if (one !== undefined) forget(one);
      Reflect.apply(remove, target, [type, callback, options]);
    };

  // The prototype has the functions; jest gives the window its own.
  const restore = [EventTarget.prototype, ...lasting.keys()]
    .filter((owner) => Object.hasOwn(owner, "addEventListener"))
    .flatMap((owner) => {
      const { addEventListener: add, removeEventListener: remove } = owner;
      return [
        replace(owner, "addEventListener", adding(add, remove)),
        replace(owner, "removeEventListener", removing(remove)),
      ];
    });

  return {
    held: () => [
      ...[...attached].filter(isThere).map(({ target, type, place }): Held => ({
        what: `listener "${type}" of ${lasting.get(target) ?? nameOfQuery(target)}`,
        which: place,
      })),
      ...[...handlers.values()].flatMap(({ name, seen }) =>
        [...seen].flatMap(([member, functions]) =>
          [...functions].map((one): Held => ({ what: `${member} of ${name}`, which: () => String(one) })),
        ),
      ),
    ],
    screenGone: () => {
      for (const [target, { members, seen }] of handlers) {
        for (const member of members) {
          const handler: unknown = Reflect.get(target, member);
          // the body has some of the window's
          const isWindows = target === document.body && handler === Reflect.get(window, member);
          if (typeof handler === "function" && !isWindows)
            seen.set(member, (seen.get(member) ?? new Set()).add(handler));
        }
      }
    },
    stop: () => {
      for (const one of attached) forget(one);
      for (const undo of restore) undo();
    },
  };
}

function captures(options: boolean | EventListenerOptions | undefined): boolean {
  return (typeof options === "object" ? options.capture : options) === true;
}

function lastingTargets(): Map<EventTarget, string> {
  const targets = new Map<EventTarget, string>([
    [window, "window"],
    [document, "document"],
    ...[document.documentElement, document.head, document.body].map(
      (element) => [element, nameOfNode(element)] as const,
    ),
  ]);
  const owners: readonly (readonly [object, readonly string[]])[] = [
    [window, ["performance", "visualViewport", "speechSynthesis", "navigation", "cookieStore"]],
    [window.screen, ["orientation"]],
    [navigator, ["connection", "mediaDevices", "serviceWorker"]],
  ];
  for (const [owner, members] of owners) {
    for (const member of members) {
      const target: unknown = Reflect.get(owner, member);
      if (target instanceof EventTarget) targets.set(target, member);
    }
  }
  return targets;
}

function handlerMembers(target: EventTarget): string[] {
  const members = [];
  for (const member in target) if (member.startsWith("on")) members.push(member);
  return members;
}

/** The browser keeps a media query for as long as somebody listens to it. */
function isLasting(target: EventTarget, lasting: ReadonlyMap<EventTarget, string>): boolean {
  return lasting.has(target) || (!(target instanceof Node) && "media" in target);
}

function nameOfQuery(target: EventTarget): string {
  return "media" in target ? `matchMedia("${String(target.media)}")` : "a media query";
}
