import { z } from "zod";

import { isSamePerson, type Person } from "../device/accounts.ts";
import type { SweepKind } from "../device/sweeps.ts";

/** What a tab does, and for whom: another person may be signed in beside in another tab. */
const Told = z.strictObject({
  what: z.enum(["lock", "sign_out", "forget"]),
  person: z.strictObject({ issuer: z.string(), subject: z.string() }),
});
type Told = z.infer<typeof Told>;

/** The other tabs of this origin in which the same person is signed in. */
export interface Tabs {
  readonly tell: (what: SweepKind, person: Person | null) => void;
  readonly onTold: (listener: (what: SweepKind) => void) => void;
}

/**
 * @param channel Null where the browser has none.
 * @param known Who is signed in here, once this page knows.
 */
export function createTabs(channel: BroadcastChannel | null, known: () => Promise<Person | null>): Tabs {
  return Object.freeze<Tabs>({
    tell: (what, person) => {
      if (person === null) return; // nobody was signed in: there is nothing that another tab could end
      const told: Told = { what, person: { issuer: person.issuer, subject: person.subject } };
      channel?.postMessage(told);
    },
    onTold: (listener) => {
      channel?.addEventListener("message", ({ data }) => {
        const told = Told.safeParse(data);
        if (!told.success) return;
        void known().then((person) => {
          if (person !== null && isSamePerson(person, told.data.person)) listener(told.data.what);
        });
      });
    },
  });
}
