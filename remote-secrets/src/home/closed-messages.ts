import { z } from "zod";

/** Local storage key: ids of the messages that were closed on this device. */
const closedMessagesKey = "closedMessages";

/** The oldest ids are dropped beyond this. */
const maxClosedIds = 100;

const ClosedMessageIds = z.array(z.string()).max(maxClosedIds);

export function readClosedMessages(storage: Pick<Storage, "getItem">): readonly string[] {
  try {
    return ClosedMessageIds.parse(JSON.parse(storage.getItem(closedMessagesKey) ?? "[]"));
  } catch {
    return []; // not this format: closed messages are shown again
  }
}

/** Adds an id and returns all closed ids, with it even when storage refuses it. */
export function closeMessage(storage: Pick<Storage, "getItem" | "setItem">, id: string): readonly string[] {
  const closedIds = [...readClosedMessages(storage).filter((closedId) => closedId !== id), id].slice(-maxClosedIds);
  try {
    storage.setItem(closedMessagesKey, JSON.stringify(closedIds));
  } catch {
    // storage is full or blocked: it stays closed until the page is reloaded
  }
  return closedIds;
}
