import { z } from "zod";

/** Local storage key of the ids of messages that were closed on this device. */
const closedMessagesKey = "closedMessages";

/** Maximum number of stored ids. Beyond it the oldest ids are dropped. */
const maxClosedIds = 100;

const ClosedMessageIds = z.array(z.string()).max(maxClosedIds);

export function readClosedMessages(storage: Pick<Storage, "getItem">): readonly string[] {
  try {
    return ClosedMessageIds.parse(JSON.parse(storage.getItem(closedMessagesKey) ?? "[]"));
  } catch {
    return []; // invalid value: closed messages are shown again
  }
}

/** Adds an id and returns all closed ids, even if storing fails. */
export function closeMessage(storage: Pick<Storage, "getItem" | "setItem">, id: string): readonly string[] {
  const closedIds = [...readClosedMessages(storage).filter((closedId) => closedId !== id), id].slice(-maxClosedIds);
  try {
    storage.setItem(closedMessagesKey, JSON.stringify(closedIds));
  } catch {
    // storage is full or blocked: the message stays closed until reload
  }
  return closedIds;
}
