import { z } from "zod";

import { forgetAccounts, leaveAccounts, type Person } from "./accounts.ts";
import { removeOpenedFiles } from "./opened-files.ts";

/**
 * [Note: What is wiped when]
 * It belongs to the host's life: it happens also where no screen asked for the vault.
 * 1. `lock`: the vault ends its workers, but for those that seal and send. Files with opened content go, and what a link carried.
 *    The device key, records and waiting uploads stay.
 * 2. `sign_out`: all workers end. On the person's own device this is a lock, and uploads wait. On a shared computer, or where
 *    nobody answered, everything of the person goes: records, uploads, the device key with the last of them.
 * 3. `forget`: as on a shared computer, whatever was answered.
 * A sweep is marked in local storage before it begins, until it is done. A page that starts finishes what is marked, and does
 * nothing else. Every tab sweeps after its own workers ended, so that none of them writes after the last sweep.
 */
export type SweepKind = "lock" | "sign_out" | "forget";

export interface Sweeps {
  /** Marks that it begins. What is given back does it, once the workers of this page were ended; it rejects when something is left, which stays marked. */
  readonly begin: (kind: SweepKind, person: Person | null) => () => Promise<void>;
  /** At the start of a page, before anybody is signed in. */
  readonly finishMarked: () => Promise<void>;
}

export interface SweepsDeps {
  /** Of the origin. */
  readonly storage: Pick<Storage, "getItem" | "setItem" | "removeItem">;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Drops what a link carried, in this tab. */
  readonly dropLinkSecret: () => Promise<void>;
  readonly log: (step: string, error: unknown) => void;
}

const kinds = ["lock", "sign_out", "forget"] as const satisfies readonly SweepKind[];
const markOf = (kind: SweepKind): string => `sweep.${kind}`;
const Marked = z.strictObject({ person: z.strictObject({ issuer: z.string(), subject: z.string() }).nullable() });

export function createSweeps({ storage, now, dropLinkSecret, log }: SweepsDeps): Sweeps {
  async function sweep(kind: SweepKind, person: Person | null): Promise<void> {
    const done = await Promise.allSettled([removeOpenedFiles(), person === null || kind === "lock" ? null : kind === "forget" ? forgetAccounts(person) : leaveAccounts(person, now())]);
    for (const each of done) if (each.status === "rejected") throw each.reason;
    storage.removeItem(markOf(kind));
  }

  return Object.freeze<Sweeps>({
    begin: (kind, person) => {
      const marked: z.infer<typeof Marked> = { person: person === null ? null : { issuer: person.issuer, subject: person.subject } };
      try {
        storage.setItem(markOf(kind), JSON.stringify(marked));
      } catch (error) {
        log(`sweep ${kind}`, error); // a full disk: it is done all the same, only not finished by another page
      }
      return async () => {
        const [dropped] = await Promise.allSettled([dropLinkSecret(), sweep(kind, person)]).then((both) => both.filter((each) => each.status === "rejected"));
        if (dropped !== undefined) throw dropped.reason;
      };
    },
    finishMarked: async () => {
      for (const kind of kinds) {
        const mark = storage.getItem(markOf(kind));
        if (mark === null) continue;
        try {
          await sweep(kind, Marked.parse(JSON.parse(mark)).person);
        } catch (error) {
          log(`sweep ${kind}`, error); // still marked: the next page tries again
        }
      }
    },
  });
}
