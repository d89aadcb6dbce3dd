import { z } from "zod";

/** Ids of messages that were closed on this device; kept under this name in local storage. */
export const closedMessagesKey = "closedMessages";

/** So many are remembered: the oldest go first. */
const mostKept = 100;

const Closed = z.array(z.string()).max(mostKept);

export function closedMessages(storage: Pick<Storage, "getItem">): readonly string[] {
  try {
    return Closed.parse(JSON.parse(storage.getItem(closedMessagesKey) ?? "[]"));
  } catch {
    return []; // something else stands there: the messages show once more
  }
}

/** Closes one more, and gives all that are closed. */
export function closeMessage(storage: Pick<Storage, "getItem" | "setItem">, id: string): readonly string[] {
  const closed = [...closedMessages(storage).filter((each) => each !== id), id].slice(-mostKept);
  try {
    storage.setItem(closedMessagesKey, JSON.stringify(closed));
  } catch {
    // no room or not allowed: it is closed until the page is loaded again
  }
  return closed;
}
