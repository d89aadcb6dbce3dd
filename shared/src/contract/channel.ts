import { z } from "zod";

import { errorCodes, PortalError, toPortalError } from "../errors/index.ts";

/**
 * Calls in both directions between the portal's page and the vault's frame, which have different
 * origins. Every message is parsed; a service answers only the members that it lists.
 *
 * Arguments and results are what structured clone carries. An argument may also have functions and
 * one AbortSignal as members: the callee's calls of these functions reach the caller's, in order
 * and before the result; aborting reaches the callee's signal, without its reason. Errors cross as
 * their code and details.
 */
export interface Channel {
  /**
   * Calls a member of a service of the other side. Rejects with the member's error, `forbidden` for
   * a member that is not served, or the error of {@link close}.
   */
  readonly call: (service: string, path: readonly string[], args?: readonly unknown[]) => Promise<unknown>;
  /** Serves a service of this side; replaces one of the same name. */
  readonly serve: (service: string, members: ChannelMembers) => void;
  /** Stops listening. Pending and later calls reject with `error`. */
  readonly close: (error: PortalError) => void;
  /** Calls the listener when the channel was closed. */
  readonly onClose: (listener: () => void) => void;
}

/** Functions, and groups of them. Only own members are served. */
export interface ChannelMembers {
  // never: a member says what it takes, and parses what it gets
  readonly [name: string]: ((...args: never[]) => unknown) | ChannelMembers;
}

/** How messages leave and arrive. Whoever creates it checks origin and window. */
export interface ChannelEndpoint {
  readonly post: (message: unknown, transfer?: readonly Transferable[]) => void;
  /** Returns a function that stops listening. */
  readonly listen: (listener: (message: unknown) => void) => () => void;
}

/** What a document listens with; of a window, its own. */
export interface MessageTarget {
  readonly addEventListener: (
    type: "message",
    listener: (event: Pick<MessageEvent<unknown>, "data" | "origin" | "source">) => void,
    options: { readonly signal: AbortSignal },
  ) => void;
}

/** Messages to and from another window while its document has exactly this origin. */
export function createWindowEndpoint(
  target: MessageTarget,
  getPeer: () => Pick<Window, "postMessage"> | null,
  origin: string,
): ChannelEndpoint {
  return {
    post: (message) => {
      getPeer()?.postMessage(message, origin);
    },
    listen: (listener) => {
      const controller = new AbortController();
      const handleMessage = ({
        source,
        origin: senderOrigin,
        data,
      }: Pick<MessageEvent, "data" | "origin" | "source">) => {
        if (source !== null && source === getPeer() && senderOrigin === origin) listener(data);
      };
      target.addEventListener("message", handleMessage, { signal: controller.signal });
      return () => {
        controller.abort();
      };
    },
  };
}

const Name = z.string().regex(/^[A-Za-z]\w{0,63}$/u);
const Arguments = z.array(z.unknown()).max(8);

/** An argument with functions or a signal: the other members, and the names of these. */
const Options = z.strictObject({
  index: z.int().min(0).max(7),
  functionNames: z.array(Name).max(8),
  signalName: Name.nullable(),
  aborted: z.boolean(),
});
type Options = z.infer<typeof Options>;

const marker = { relicario: z.literal("channel") };
const ChannelMessage = z.discriminatedUnion("kind", [
  z.strictObject({
    ...marker,
    kind: z.literal("call"),
    id: z.int().min(1),
    service: Name,
    path: z.array(Name).min(1).max(3),
    args: Arguments,
    options: z.array(Options).max(8),
  }),
  z.strictObject({ ...marker, kind: z.literal("abort"), id: z.int().min(1) }),
  z.strictObject({
    ...marker,
    kind: z.literal("function"),
    id: z.int().min(1),
    index: z.int().min(0).max(7),
    name: Name,
    args: Arguments,
  }),
  z.strictObject({ ...marker, kind: z.literal("result"), id: z.int().min(1), value: z.unknown() }),
  z.strictObject({
    ...marker,
    kind: z.literal("error"),
    id: z.int().min(1),
    code: z.enum(errorCodes),
    details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string()).readonly()])),
  }),
]);
type ChannelMessage = z.infer<typeof ChannelMessage>;
type Unmarked<T> = T extends unknown ? Omit<T, "relicario"> : never;

interface PendingCall {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: PortalError) => void;
  readonly args: readonly unknown[];
}

export function createChannel(endpoint: ChannelEndpoint): Channel {
  const services = new Map<string, ChannelMembers>();
  const pendingCalls = new Map<number, PendingCall>();
  /** Calls of the other side that this side has not answered. */
  const servedCalls = new Map<number, AbortController>();
  const closeListeners = new Set<() => void>();
  let lastId = 0;
  let closeError: PortalError | null = null;

  const send = (message: Unmarked<ChannelMessage>): void => {
    if (closeError === null) endpoint.post({ relicario: "channel", ...message });
  };

  const stopListening = endpoint.listen((data) => {
    const parsed = ChannelMessage.safeParse(data);
    if (parsed.success) handleMessage(parsed.data);
  });

  function handleMessage(message: ChannelMessage): void {
    switch (message.kind) {
      case "call":
        void answer(message);
        break;
      case "abort":
        servedCalls.get(message.id)?.abort();
        break;
      case "function": {
        const options = pendingCalls.get(message.id)?.args[message.index];
        if (!isPlainObject(options)) break;
        const member = Object.hasOwn(options, message.name) ? options[message.name] : undefined;
        if (!isFunction(member)) break;
        try {
          member(...message.args);
        } catch {
          // a function that throws, such as a progress listener, does not fail the call
        }
        break;
      }
      case "result":
        takePending(message.id)?.resolve(message.value);
        break;
      case "error":
        takePending(message.id)?.reject(new PortalError(message.code, { details: message.details }));
        break;
    }
  }

  function takePending(id: number): PendingCall | undefined {
    const pendingCall = pendingCalls.get(id);
    pendingCalls.delete(id);
    return pendingCall;
  }

  async function answer({ id, service, path, args, options }: Extract<ChannelMessage, { kind: "call" }>) {
    const controller = new AbortController();
    servedCalls.set(id, controller);
    try {
      const member = findMember(services.get(service), path);
      if (member === null) throw new PortalError("forbidden");
      send({ kind: "result", id, value: await member(...restoreOptions(id, args, options, controller)) });
    } catch (error) {
      // also a result that structured clone refuses
      const { code, details } = toPortalError(error);
      send({ kind: "error", id, code, details: { ...details } });
    } finally {
      servedCalls.delete(id);
    }
  }

  /** Gives options their functions and their signal again. */
  function restoreOptions(
    id: number,
    args: readonly unknown[],
    options: readonly Options[],
    controller: AbortController,
  ): readonly unknown[] {
    const restored = [...args];
    for (const { index, functionNames, signalName, aborted } of options) {
      const plainMembers = restored[index];
      if (!isPlainObject(plainMembers)) throw new PortalError("forbidden");
      if (aborted) controller.abort();
      restored[index] = {
        ...plainMembers,
        ...(signalName === null ? {} : { [signalName]: controller.signal }),
        ...Object.fromEntries(
          functionNames.map((name) => [
            name,
            (...functionArgs: readonly unknown[]) => {
              send({ kind: "function", id, index, name, args: [...functionArgs] });
            },
          ]),
        ),
      };
    }
    return restored;
  }

  return Object.freeze<Channel>({
    call: (service, path, args = []) =>
      new Promise((resolve, reject) => {
        if (closeError !== null) {
          reject(closeError);
          return;
        }
        const id = ++lastId;
        const described = args.map(describeOptions);
        const signal = described.find((entry) => entry.signal !== null)?.signal ?? null;
        const abort = (): void => {
          send({ kind: "abort", id });
        };
        const settle = (): void => {
          signal?.removeEventListener("abort", abort);
        };
        signal?.addEventListener("abort", abort, { once: true });
        pendingCalls.set(id, {
          resolve: (value) => {
            settle();
            resolve(value);
          },
          reject: (error) => {
            settle();
            reject(error);
          },
          args,
        });
        try {
          send({
            kind: "call",
            id,
            service,
            path: [...path],
            args: described.map(({ plain }) => plain),
            options: described.flatMap(({ options }, index) => (options === null ? [] : [{ ...options, index }])),
          });
        } catch (error) {
          takePending(id)?.reject(toPortalError(error)); // structured clone refuses an argument
        }
      }),
    serve: (service, members) => {
      services.set(service, members);
    },
    close: (error) => {
      if (closeError !== null) return;
      closeError = error;
      stopListening();
      for (const pendingCall of pendingCalls.values()) pendingCall.reject(error);
      pendingCalls.clear();
      for (const controller of servedCalls.values()) controller.abort();
      for (const listener of closeListeners) listener();
    },
    onClose: (listener) => {
      closeListeners.add(listener);
    },
  });
}

/** Splits an argument into what structured clone carries and the rest. */
function describeOptions(argument: unknown): {
  readonly plain: unknown;
  readonly options: Omit<Options, "index"> | null;
  readonly signal: AbortSignal | null;
} {
  if (!isPlainObject(argument)) return { plain: argument, options: null, signal: null };
  const entries = Object.entries(argument);
  const functionNames = entries.flatMap(([name, member]) => (isFunction(member) ? [name] : []));
  const [signalName, signal] = entries.find(
    (entry): entry is [string, AbortSignal] => entry[1] instanceof AbortSignal,
  ) ?? [null, null];
  if (functionNames.length === 0 && signal === null) return { plain: argument, options: null, signal: null };
  return {
    plain: Object.fromEntries(entries.filter(([, member]) => !isFunction(member) && member !== signal)),
    options: { functionNames, signalName, aborted: signal?.aborted === true },
    signal,
  };
}

/** Null for a name that is not served, such as one of `Object.prototype`. */
function findMember(
  members: ChannelMembers | undefined,
  path: readonly string[],
): ((...args: readonly unknown[]) => unknown) | null {
  let candidate: unknown = members;
  for (const name of path)
    candidate = isPlainObject(candidate) && Object.hasOwn(candidate, name) ? candidate[name] : undefined;
  return isFunction(candidate) ? candidate : null;
}

function isFunction(value: unknown): value is (...args: readonly unknown[]) => unknown {
  return typeof value === "function";
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null; // of any realm
}
