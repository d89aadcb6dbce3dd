/**
 * Calls between threads over Comlink, as page, vault, engine and transfer make them: {@link
 * serveCalls} on one side, {@link callsTo} on the other. Beside what Comlink carries by itself:
 *
 * - PortalErrors cross with code and details. Anything else that is thrown arrives as `unknown`,
 *   without its message, stack or cause, as these may say more than they should.
 * - An object with an AbortSignal or with functions among its members crosses as options of one
 *   call. Aborting the caller's signal aborts the callee's, whose reason stays behind. What the
 *   callee tells a function, the caller's function is given, all of it before the call is answered;
 *   what that function returns or throws does not come back.
 */
import * as Comlink from "comlink";
import { isErrorCode, PortalError, toPortalError, type ErrorDetails } from "@relicario/shared/errors";

/**
 * The other end of {@link serveCalls}. A worker that is gone never answers: its calls go through
 * worker-gone.ts.
 */
export function callsTo<Api>(endpoint: Comlink.Endpoint): Comlink.Remote<Api> {
  prepare();
  return Comlink.wrap<Api>(endpoint);
}

/**
 * Answers calls of the members of `api` at a port; without one, as the worker that this runs in.
 */
export function serveCalls(api: object, endpoint?: Comlink.Endpoint): void {
  prepare();
  const members: readonly (readonly [string, unknown])[] = Object.entries(api);
  Comlink.expose(
    Object.fromEntries(members.map(([name, member]) => [name, isFunction(member) ? answering(member) : member])),
    endpoint,
  );
}

/** The signal among the arguments of a call. */
export function signalAmong(given: readonly unknown[]): AbortSignal | undefined {
  return given
    .filter(isOptions)
    .flatMap(Object.values)
    .find((member) => member instanceof AbortSignal);
}

/** Ends the options of a call before it is answered. */
function answering(member: AnyFunction): AnyFunction {
  return async (...given) => {
    try {
      return await Reflect.apply(member, undefined, given);
    } finally {
      for (const one of given) if (isOptions(one)) await crossed.get(one)?.end();
    }
  };
}

type AnyFunction = (...given: readonly unknown[]) => unknown;
type Options = Readonly<Record<string, unknown>>;

/**
 * Options as they cross: plain members as they are, the names of the others, and the port over
 * which they go on.
 */
interface CrossingOptions {
  readonly plain: Options;
  readonly functions: readonly string[];
  /** Name of the signal, if there is one. */
  readonly signal: string | null;
  readonly aborted: boolean;
  readonly port: MessagePort;
}

/** From the callee to the caller. */
type Told = { readonly name: string; readonly given: readonly unknown[] } | { readonly name: null };
/** From the caller to the callee. `heard`: the function was called. */
type Back = "abort" | "heard";

/** Options that came across and are not at their end. */
const crossed = new WeakMap<object, { readonly end: () => Promise<void> }>();

function isFunction(value: unknown): value is AnyFunction {
  return typeof value === "function";
}

function isOptions(value: unknown): value is Options {
  if (typeof value !== "object" || value === null || Array.isArray(value) || ArrayBuffer.isView(value)) return false;
  return Object.values(value).some((member) => isFunction(member) || member instanceof AbortSignal);
}

/**
 * The caller's side: forwards aborting, calls the functions that are told, and stops when the
 * callee says that it is over.
 */
function sendOptions(options: Options): CrossingOptions {
  const members = Object.entries(options);
  const functions = new Map(members.flatMap(([name, member]) => (isFunction(member) ? [[name, member] as const] : [])));
  const [name, signal] = members.find(
    (member): member is [string, AbortSignal] => member[1] instanceof AbortSignal,
  ) ?? [null, null];
  const { port1, port2 } = new MessageChannel();
  const say = (back: Back): void => {
    port1.postMessage(back);
  };
  const abort = (): void => {
    say("abort");
  };
  signal?.addEventListener("abort", abort, { once: true });
  port1.addEventListener("message", ({ data: told }: MessageEvent<Told>) => {
    if (told.name === null) {
      signal?.removeEventListener("abort", abort);
      port1.close();
      return;
    }
    try {
      functions.get(told.name)?.(...told.given);
    } catch {
      // A listener that throws costs its progress bar; the call itself goes on.
    }
    say("heard");
  });
  port1.start();
  const plain = Object.fromEntries(members.filter(([, member]) => !isFunction(member) && member !== signal));
  return { plain, functions: [...functions.keys()], signal: name, aborted: signal?.aborted === true, port: port2 };
}

/** The callee's side. */
function receiveOptions({ plain, functions, signal, aborted, port }: CrossingOptions): Options {
  const controller = new AbortController();
  if (aborted) controller.abort();
  let unheard = 0;
  let allHeard: () => void = () => undefined;
  port.addEventListener("message", ({ data: back }: MessageEvent<Back>) => {
    if (back === "abort") controller.abort();
    else if (--unheard === 0) allHeard();
  });
  port.start();
  const tell = (told: Told): void => {
    port.postMessage(told);
  };
  const telling =
    (name: string): AnyFunction =>
    (...given) => {
      unheard++;
      tell({ name, given });
    };
  const options: Options = {
    ...plain,
    ...(signal === null ? {} : { [signal]: controller.signal }),
    ...Object.fromEntries(functions.map((name) => [name, telling(name)])),
  };
  crossed.set(options, {
    end: async () => {
      if (unheard > 0) {
        await new Promise<void>((resolve) => {
          allHeard = resolve;
        });
      }
      tell({ name: null });
    },
  });
  return options;
}

/**
 * Comlink's own handler: it alone recognises what was thrown, by a symbol that it does not export.
 */
const thrown = Comlink.transferHandlers.get("throw");

/**
 * Comlink keeps one table of handlers in each thread; setting the same ones again changes nothing.
 */
function prepare(): void {
  Comlink.transferHandlers.set("throw", {
    canHandle: (value): value is { value: unknown } => thrown?.canHandle(value) ?? false,
    serialize: ({ value }: { value: unknown }) => {
      const { code, details } = toPortalError(value);
      return [{ code, details }, []];
    },
    deserialize: (sent: unknown): never => {
      throw rebuild(sent);
    },
  });
  Comlink.transferHandlers.set("options", {
    canHandle: isOptions,
    serialize: (options: Options) => {
      const sent = sendOptions(options);
      return [sent, [sent.port]];
    },
    deserialize: receiveOptions,
  });
}

function rebuild(sent: unknown): PortalError {
  if (typeof sent !== "object" || sent === null || !("code" in sent) || !isErrorCode(sent.code))
    return new PortalError("unknown");
  return new PortalError(sent.code, { details: "details" in sent && isDetails(sent.details) ? sent.details : {} });
}

function isDetails(value: unknown): value is ErrorDetails {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).every(
      (fact) =>
        typeof fact === "string" ||
        typeof fact === "number" ||
        typeof fact === "boolean" ||
        (Array.isArray(fact) && fact.every((item) => typeof item === "string")),
    )
  );
}
