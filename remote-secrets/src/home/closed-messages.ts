import { z } from "zod";

/** Local storage key: ids of the messages that were closed on this device. */
export const closedMessagesKey = "closedMessages";

/** The oldest ids are dropped beyond this. */
const maxKept = 100;

const Closed = z.array(z.string()).max(maxKept);

export function closedMessages(storage: Pick<Storage, "getItem">): readonly string[] {
  try {
    return Closed.parse(JSON.parse(storage.getItem(closedMessagesKey) ?? "[]"));
  } catch {
    return []; // not this format: closed messages are shown again
  }
}

/** Adds an id and returns all closed ids, with it even when storage refuses it. */
export function closeMessage(storage: Pick<Storage, "getItem" | "setItem">, id: string): readonly string[] {
  const closed = [...closedMessages(storage).filter((each) => each !== id), id].slice(-maxKept);
  try {
    storage.setItem(closedMessagesKey, JSON.stringify(closed));
  } catch {
    // storage is full or blocked: it stays closed until the page is reloaded
  }
  return closed;
}
