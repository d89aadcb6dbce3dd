import { AsyncLocalStorage } from "node:async_hooks";

/** Records what a request does. */
export interface RequestTrace {
  /** @returns ends the statement's span */
  startStatement(text: string): (error?: unknown) => void;
}

/** Of the request that the running code serves; none when nothing is traced. */
export const currentTrace = new AsyncLocalStorage<RequestTrace>();
