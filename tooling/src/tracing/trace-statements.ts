import { AsyncLocalStorage } from "node:async_hooks";

import type { ClientBase, Pool } from "pg";

import { currentTrace } from "./current-trace.ts";
import { isTracing } from "./start-tracing.ts";

/** Records a pool's statements as parts of the requests that they are for, if those are traced. */
export function traceStatements(pool: Pool): void {
  if (!isTracing()) return;
  // The code that releases a connection passes it on: what waits keeps its own trace, or none.
  wrapMethod(
    pool,
    "connect",
    (connect) =>
      (...args) =>
        connect(...args.map((arg) => (isFunction(arg) ? AsyncLocalStorage.bind(arg) : arg))),
  );
  pool.on("connect", traceConnection);
}

function traceConnection(client: ClientBase): void {
  wrapMethod(client, "query", (query) => (...args) => {
    const end = currentTrace.getStore()?.startStatement(readText(args[0]));
    if (end === undefined) return query(...args);
    const callback = args.at(-1);
    if (isFunction(callback))
      return query(...args.slice(0, -1), (error: unknown, ...results: unknown[]) => {
        end(error ?? undefined);
        callback(error, ...results);
      });
    const result = query(...args);
    if (result instanceof Promise)
      result.then(
        () => end(),
        (error: unknown) => end(error),
      );
    else end(); // a stream
    return result;
  });
}

/** Its text, without values. */
function readText(statement: unknown): string {
  if (typeof statement === "string") return statement;
  const hasText = typeof statement === "object" && statement !== null && "text" in statement;
  return hasText ? String(statement.text) : "";
}

type Method = (...args: unknown[]) => unknown;

function wrapMethod(owner: object, name: string, wrap: (method: Method) => Method): void {
  const method: unknown = Reflect.get(owner, name);
  if (isFunction(method)) Object.assign(owner, { [name]: wrap(method.bind(owner)) });
}

function isFunction(value: unknown): value is Method {
  return typeof value === "function";
}
