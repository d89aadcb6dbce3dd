/**
 * Calls between threads over Comlink: {@link serveCalls} on one side, {@link createCallClient} on
 * the other. Adds to Comlink:
 *
 * - PortalErrors cross with code and details. Any other error arrives as `unknown`, without
 *   message, stack or cause, which may contain secrets.
 * - An object that has an AbortSignal or functions among its members crosses as options of one
 *   call. Aborting crosses without its reason. When the callee calls a function, the caller's
 *   function runs before the call settles; its result or error is dropped.
 * - A message that cannot be deserialized (`messageerror`) rejects all calls that wait on its
 *   endpoint, because its call is unknown.
 */
import * as Comlink from "comlink";
import { isErrorCode, PortalError, toPortalError, type ErrorDetails } from "@relicario/shared/errors";
import { createAbortableCalls } from "./abortable-calls.ts";

/**
 * Sent by a server when a request could not be deserialized. Comlink ignores messages without an
 * id.
 */
const lostRequest = "request_lost";

/**
 * Creates a client of {@link serveCalls}. Rejects waiting calls with `vault_unavailable` when a
 * message is lost. A worker that has ended never responds, so wrap its calls with
 * abortable-calls.ts.
 *
 * @param signal stops listening. Comlink keeps an endpoint until its proxies are collected, and a
 *   listener may reference a proxy: without the signal, neither is collected after a worker has
 *   ended
 */
export function createCallClient<Api>(endpoint: Comlink.Endpoint, signal?: AbortSignal): Comlink.Remote<Api> {
  installTransferHandlers();
  const { abortable, rejectPending } = createAbortableCalls();
  const handleLoss = (): void => {
    rejectPending(new PortalError("vault_unavailable"));
  };
  const listenerOptions = signal === undefined ? {} : { signal };
  endpoint.addEventListener(
    "message",
    (event: Event) => {
      if ("data" in event && event.data === lostRequest) handleLoss();
    },
    listenerOptions,
  );
  endpoint.addEventListener("messageerror", handleLoss, listenerOptions);
  return new Proxy(Comlink.wrap<Api>(endpoint), {
    get: (remote, name) => {
      const member: unknown = Reflect.get(remote, name);
      return typeof name === "string" && isFunction(member)
        ? (...args: readonly unknown[]) => abortable(Promise.resolve(member(...args)))
        : member;
    },
  });
}

/** Serves the members of `api` on an endpoint; by default, on the global scope of this worker. */
export function serveCalls(api: object, endpoint?: Comlink.Endpoint): void {
  installTransferHandlers();
  const caller = endpoint ?? globalThis;
  caller.addEventListener("messageerror", () => {
    caller.postMessage(lostRequest);
  });
  const members: readonly (readonly [string, unknown])[] = Object.entries(api);
  Comlink.expose(
    Object.fromEntries(members.map(([name, member]) => [name, isFunction(member) ? wrapMember(member) : member])),
    endpoint,
  );
}

/** The signal in the options of a call; undefined without one. */
export function findSignal(args: readonly unknown[]): AbortSignal | undefined {
  return args
    .filter(isOptions)
    .flatMap(Object.values)
    .find((member) => member instanceof AbortSignal);
}

/** Ends the options of a call before the call settles. */
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

/** Serialized options: plain members, the names of the other members, and a port for these. */
interface SerializedOptions {
  readonly plainMembers: CallbackOptions;
  readonly functionNames: readonly string[];
  /** Name of the signal; null without one. */
  readonly signalName: string | null;
  readonly aborted: boolean;
  readonly port: MessagePort;
}

/** Sent by the callee to the caller. Without a name: the call has ended. */
type CallbackMessage = { readonly name: string; readonly args: readonly unknown[] } | { readonly name: null };
/** Sent by the caller to the callee. `heard`: the function was called. */
type CallerMessage = "abort" | "heard";

/** Received options of calls that have not ended. */
const receivedOptions = new WeakMap<object, { readonly end: () => Promise<void> }>();

function isFunction(value: unknown): value is AnyFunction {
  return typeof value === "function";
}

function isOptions(value: unknown): value is CallbackOptions {
  if (typeof value !== "object" || value === null || Array.isArray(value) || ArrayBuffer.isView(value)) return false;
  return Object.values(value).some((member) => isFunction(member) || member instanceof AbortSignal);
}

/**
 * The caller's side. Forwards aborting, runs the functions that the callee calls, and stops when
 * the call ends.
 */
function serializeOptions(options: CallbackOptions): SerializedOptions {
  const members = Object.entries(options);
  const functions = new Map(members.flatMap(([name, member]) => (isFunction(member) ? [[name, member] as const] : [])));
  const [signalName, signal] = members.find(
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
      // A function that throws, such as a progress listener, does not fail the call.
    }
    send("heard");
  });
  port1.addEventListener("messageerror", () => {
    send("heard"); // the callee waits for an acknowledgement, even of arguments that cannot be deserialized
  });
  port1.start();
  const plainMembers = Object.fromEntries(members.filter(([, member]) => !isFunction(member) && member !== signal));
  return {
    plainMembers,
    functionNames: [...functions.keys()],
    signalName,
    aborted: signal?.aborted === true,
    port: port2,
  };
}

/** The callee's side. */
function deserializeOptions({
  plainMembers,
  functionNames,
  signalName,
  aborted,
  port,
}: SerializedOptions): CallbackOptions {
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
    ...(signalName === null ? {} : { [signalName]: controller.signal }),
    ...Object.fromEntries(functionNames.map((name) => [name, forwardCall(name)])),
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
 * Comlink's own handler. Only this handler recognises thrown values, by a symbol that Comlink does
 * not export.
 */
const throwHandler = Comlink.transferHandlers.get("throw");

/** Sets the handlers in Comlink's table, which is one per thread. Idempotent. */
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
