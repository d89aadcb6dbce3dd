import {
  describeNode,
  captureCallSite,
  replaceMember,
  type ResourceTracker,
  type HeldResource,
} from "./resource-tracker.ts";

interface AttachedListener {
  readonly target: EventTarget;
  readonly type: string;
  readonly callback: EventListenerOrEventListenerObject;
  readonly capture: boolean;
  readonly signal: AbortSignal | undefined;
  readonly getCallSite: () => string;
  /** Removes the marker listener, which records that a one-time listener ran. */
  readonly removeOnceMarker: () => void;
}

type AddEventListener = typeof EventTarget.prototype.addEventListener;
type RemoveEventListener = typeof EventTarget.prototype.removeEventListener;

/**
 * Tracks listeners of targets that outlive a screen: window, document, its html, head and body,
 * media queries, and objects of the browser. Does not track listeners of a screen's own elements.
 *
 * A listener that a signal removed does not count, nor does a one-time listener that ran. A handler
 * such as `onresize = …` counts once per different function.
 */
export function watchListeners(): ResourceTracker {
  const persistentTargets = findPersistentTargets();
  const handlers = new Map(
    [...persistentTargets].map(([target, name]) => [
      target,
      { name, members: listHandlerMembers(target), seenFunctions: new Map<string, Set<unknown>>() },
    ]),
  );
  const attachedListeners = new Set<AttachedListener>();
  const isActive = ({ signal }: AttachedListener) => signal?.aborted !== true;
  const findAttached = (target: EventTarget, type: string, callback: unknown, capture: boolean) =>
    [...attachedListeners].find(
      (listener) =>
        listener.target === target &&
        listener.type === type &&
        listener.callback === callback &&
        listener.capture === capture &&
        isActive(listener),
    );
  const untrack = (listener: AttachedListener) => {
    attachedListeners.delete(listener);
    listener.removeOnceMarker();
  };

  const wrapAdd = (add: AddEventListener, remove: RemoveEventListener): AddEventListener =>
    function (this: EventTarget | undefined, type, callback, options) {
      const target = this ?? window;
      const capture = isCapturing(options);
      const { once = false, signal } = typeof options === "object" ? options : {};
      const isNew =
        callback !== null &&
        isPersistent(target, persistentTargets) &&
        signal?.aborted !== true &&
        findAttached(target, type, callback, capture) === undefined;
      if (isNew) {
        // Attached right before the listener, so that both run under the same conditions.
        const handleRun = () => attachedListeners.delete(listener);
        const listener: AttachedListener = {
          target,
          type,
          callback,
          capture,
          signal,
          getCallSite: captureCallSite(),
          removeOnceMarker: () => Reflect.apply(remove, target, [type, handleRun, capture]),
        };
        if (once) Reflect.apply(add, target, [type, handleRun, { capture, once }]);
        attachedListeners.add(listener);
      }
      Reflect.apply(add, target, [type, callback, options]);
    };
  const wrapRemove = (remove: RemoveEventListener): RemoveEventListener =>
    function (this: EventTarget | undefined, type, callback, options) {
      const target = this ?? window;
      const listener = findAttached(target, type, callback, isCapturing(options));
      if (listener !== undefined) untrack(listener);
      Reflect.apply(remove, target, [type, callback, options]);
    };

  // The prototype has these functions, but jest gives the window its own.
  const restorers = [EventTarget.prototype, ...persistentTargets.keys()]
    .filter((owner) => Object.hasOwn(owner, "addEventListener"))
    .flatMap((owner) => {
      const { addEventListener: add, removeEventListener: remove } = owner;
      return [
        replaceMember(owner, "addEventListener", wrapAdd(add, remove)),
        replaceMember(owner, "removeEventListener", wrapRemove(remove)),
      ];
    });

  return {
    listHeldResources: () => [
      ...[...attachedListeners].filter(isActive).map(({ target, type, getCallSite }): HeldResource => ({
        resourceKind: `listener "${type}" of ${persistentTargets.get(target) ?? describeMediaQuery(target)}`,
        locate: getCallSite,
      })),
      ...[...handlers.values()].flatMap(({ name, seenFunctions }) =>
        [...seenFunctions].flatMap(([member, functions]) =>
          [...functions].map((handler): HeldResource => ({
            resourceKind: `${member} of ${name}`,
            locate: () => String(handler),
          })),
        ),
      ),
    ],
    handleUnmount: () => {
      for (const [target, { members, seenFunctions }] of handlers) {
        for (const member of members) {
          const handler: unknown = Reflect.get(target, member);
          // the body mirrors some of the window's handlers
          const isWindowHandler = target === document.body && handler === Reflect.get(window, member);
          if (typeof handler === "function" && !isWindowHandler)
            seenFunctions.set(member, (seenFunctions.get(member) ?? new Set()).add(handler));
        }
      }
    },
    stop: () => {
      for (const listener of attachedListeners) untrack(listener);
      for (const restoreMember of restorers) restoreMember();
    },
  };
}

function isCapturing(options: boolean | EventListenerOptions | undefined): boolean {
  return (typeof options === "object" ? options.capture : options) === true;
}

function findPersistentTargets(): Map<EventTarget, string> {
  const targets = new Map<EventTarget, string>([
    [window, "window"],
    [document, "document"],
    ...[document.documentElement, document.head, document.body].map(
      (element) => [element, describeNode(element)] as const,
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

function listHandlerMembers(target: EventTarget): string[] {
  const members = [];
  for (const member in target) if (member.startsWith("on")) members.push(member);
  return members;
}

/** Whether the target outlives a screen. A media query lives as long as it has listeners. */
function isPersistent(target: EventTarget, persistentTargets: ReadonlyMap<EventTarget, string>): boolean {
  return persistentTargets.has(target) || (!(target instanceof Node) && "media" in target);
}

function describeMediaQuery(target: EventTarget): string {
  return "media" in target ? `matchMedia("${String(target.media)}")` : "a media query";
}
