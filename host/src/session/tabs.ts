import { z } from "zod";

import { isSamePerson, type Person } from "../device/accounts.ts";

/**
 * Message to the other tabs: what the tab does, or that the provider has refused its renewal, and
 * for which person, because another tab may have another person signed in.
 */
const TabMessage = z.strictObject({
  what: z.enum(["lock", "sign_out", "forget", "sign_in_required"]),
  person: z.strictObject({ issuer: z.string(), subject: z.string() }),
});
type TabMessage = z.infer<typeof TabMessage>;

/** Channel to the other tabs of this origin that have the same person signed in. */
export interface Tabs {
  readonly broadcast: (kind: TabMessage["what"], person: Person | null) => void;
  readonly onMessage: (listener: (kind: TabMessage["what"]) => void) => void;
}

/**
 * @param channel Null when the browser has no broadcast channels
 * @param getPerson Resolves with the person who is signed in here, once the page knows
 */
export function createTabs(channel: BroadcastChannel | null, getPerson: () => Promise<Person | null>): Tabs {
  return Object.freeze<Tabs>({
    broadcast: (kind, person) => {
      if (person === null) return; // no one is signed in: there is nothing to end in other tabs
      const message: TabMessage = { what: kind, person: { issuer: person.issuer, subject: person.subject } };
      channel?.postMessage(message);
    },
    onMessage: (listener) => {
      channel?.addEventListener("message", ({ data }) => {
        const message = TabMessage.safeParse(data);
        if (!message.success) return;
        void getPerson().then((person) => {
          if (person !== null && isSamePerson(person, message.data.person)) listener(message.data.what);
        });
      });
    },
  });
}
