import { z } from "zod";

import { isSamePerson, type Person } from "../device/accounts.ts";
import type { SweepKind } from "../device/sweeps.ts";

/** What a tab does, and for whom: another person may be signed in beside in another tab. */
const TabMessage = z.strictObject({
  what: z.enum(["lock", "sign_out", "forget"]),
  person: z.strictObject({ issuer: z.string(), subject: z.string() }),
});
type TabMessage = z.infer<typeof TabMessage>;

/** The other tabs of this origin in which the same person is signed in. */
export interface Tabs {
  readonly broadcast: (kind: SweepKind, person: Person | null) => void;
  readonly onMessage: (listener: (kind: SweepKind) => void) => void;
}

/**
 * @param channel Null where the browser has none.
 * @param getPerson Who is signed in here, once this page knows.
 */
export function createTabs(channel: BroadcastChannel | null, getPerson: () => Promise<Person | null>): Tabs {
  return Object.freeze<Tabs>({
    broadcast: (kind, person) => {
      if (person === null) return; // nobody was signed in: there is nothing that another tab could end
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
