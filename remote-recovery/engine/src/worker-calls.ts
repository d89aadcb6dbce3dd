/**
 * Calls between threads over Comlink, as page, vault, engine and transfer make them: {@link
 * serveCalls} on one side, {@link createCallClient} on the other. Beside what Comlink carries by
 * itself:
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
 * abortable-calls.ts.
 */
export function createCallClient<Api>(endpoint: Comlink.Endpoint): Comlink.Remote<Api> {
  installTransferHandlers();
  return Comlink.wrap<Api>(endpoint);
}

/**
 * Answers calls of the members of `api` at a port; without one, as the worker that this runs in.
 */
export function serveCalls(api: object, endpoint?: Comlink.Endpoint): void {
  installTransferHandlers();
  const members: readonly (readonly [string, unknown])[] = Object.entries(api);
  Comlink.expose(
    Object.fromEntries(members.map(([name, member]) => [name, isFunction(member) ? wrapMember(member) : member])),
    endpoint,
  );
}

/** The signal among the arguments of a call. */
export function findSignal(args: readonly unknown[]): AbortSignal | undefined {
  return args
    .filter(isOptions)
    .flatMap(Object.values)
    .find((member) => member instanceof AbortSignal);
}

/** Ends the options of a call before it is answered. */
function wrapMember(member: AnyFunction): AnyFunction {
  return async (...args) => {
    try {
      return await Reflect.apply(member, undefined, args);
    } finally {
      for (const argument of args) if (isOptions(argument)) await receivedOptions.get(argument)?.end();
    }
  };
}

type AnyFunction = (...args: readonly unknown[]) => unknown;
type CallbackOptions = Readonly<Record<string, unknown>>;

/**
 * Options as they cross: plain members as they are, the names of the others, and the port over
 * which they go on.
 */
interface SerializedOptions {
  readonly plainMembers: CallbackOptions;
  readonly functions: readonly string[];
  /** Name of the signal, if there is one. */
  readonly signal: string | null;
  readonly aborted: boolean;
  readonly port: MessagePort;
}

/** From the callee to the caller. */
type CallbackMessage = { readonly name: string; readonly args: readonly unknown[] } | { readonly name: null };
/** From the caller to the callee. `heard`: the function was called. */
type CallerMessage = "abort" | "heard";

/** Options that came across and are not at their end. */
const receivedOptions = new WeakMap<object, { readonly end: () => Promise<void> }>();

function isFunction(value: unknown): value is AnyFunction {
  return typeof value === "function";
}

function isOptions(value: unknown): value is CallbackOptions {
  if (typeof value !== "object" || value === null || Array.isArray(value) || ArrayBuffer.isView(value)) return false;
  return Object.values(value).some((member) => isFunction(member) || member instanceof AbortSignal);
}

/**
 * The caller's side: forwards aborting, calls the functions that are told, and stops when the
 * callee says that it is over.
 */
function serializeOptions(options: CallbackOptions): SerializedOptions {
  const members = Object.entries(options);
  const functions = new Map(members.flatMap(([name, member]) => (isFunction(member) ? [[name, member] as const] : [])));
  const [name, signal] = members.find(
    (member): member is [string, AbortSignal] => member[1] instanceof AbortSignal,
  ) ?? [null, null];
  const { port1, port2 } = new MessageChannel();
  const send = (message: CallerMessage): void => {
    port1.postMessage(message);
  };
  const abort = (): void => {
    send("abort");
  };
  signal?.addEventListener("abort", abort, { once: true });
  port1.addEventListener("message", ({ data: message }: MessageEvent<CallbackMessage>) => {
    if (message.name === null) {
      signal?.removeEventListener("abort", abort);
      port1.close();
      return;
    }
    try {
      functions.get(message.name)?.(...message.args);
    } catch {
      // A listener that throws costs its progress bar; the call itself goes on.
    }
    send("heard");
  });
  port1.start();
  const plainMembers = Object.fromEntries(members.filter(([, member]) => !isFunction(member) && member !== signal));
  return {
    plainMembers,
    functions: [...functions.keys()],
    signal: name,
    aborted: signal?.aborted === true,
    port: port2,
  };
}

/** The callee's side. */
function deserializeOptions({ plainMembers, functions, signal, aborted, port }: SerializedOptions): CallbackOptions {
  const controller = new AbortController();
  if (aborted) controller.abort();
  let pendingAcknowledgements = 0;
  let resolveAcknowledged: () => void = () => undefined;
  port.addEventListener("message", ({ data: message }: MessageEvent<CallerMessage>) => {
    if (message === "abort") controller.abort();
    else if (--pendingAcknowledgements === 0) resolveAcknowledged();
  });
  port.start();
  const send = (message: CallbackMessage): void => {
    port.postMessage(message);
  };
  const forwardCall =
    (name: string): AnyFunction =>
    (...args) => {
      pendingAcknowledgements++;
      send({ name, args });
    };
  const options: CallbackOptions = {
    ...plainMembers,
    ...(signal === null ? {} : { [signal]: controller.signal }),
    ...Object.fromEntries(functions.map((name) => [name, forwardCall(name)])),
  };
  receivedOptions.set(options, {
    end: async () => {
      if (pendingAcknowledgements > 0) {
        await new Promise<void>((resolve) => {
          resolveAcknowledged = resolve;
        });
      }
      send({ name: null });
    },
  });
  return options;
}

/**
 * Comlink's own handler: it alone recognises what was thrown, by a symbol that it does not export.
 */
const throwHandler = Comlink.transferHandlers.get("throw");

/**
 * Comlink keeps one table of handlers in each thread; setting the same ones again changes nothing.
 */
function installTransferHandlers(): void {
  Comlink.transferHandlers.set("throw", {
    canHandle: (value): value is { value: unknown } => throwHandler?.canHandle(value) ?? false,
    serialize: ({ value }: { value: unknown }) => {
      const { code, details } = toPortalError(value);
      return [{ code, details }, []];
    },
    deserialize: (payload: unknown): never => {
      throw deserializeError(payload);
    },
  });
  Comlink.transferHandlers.set("options", {
    canHandle: isOptions,
    serialize: (options: CallbackOptions) => {
      const serialized = serializeOptions(options);
      return [serialized, [serialized.port]];
    },
    deserialize: deserializeOptions,
  });
}

function deserializeError(payload: unknown): PortalError {
  if (typeof payload !== "object" || payload === null || !("code" in payload) || !isErrorCode(payload.code))
    return new PortalError("unknown");
  return new PortalError(payload.code, {
    details: "details" in payload && isDetails(payload.details) ? payload.details : {},
  });
}

function isDetails(value: unknown): value is ErrorDetails {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).every(
      (detail) =>
        typeof detail === "string" ||
        typeof detail === "number" ||
        typeof detail === "boolean" ||
        (Array.isArray(detail) && detail.every((item) => typeof item === "string")),
    )
  );
}
