import { z } from "zod";

import { wipeAccounts, isSamePerson, signOutAccounts, type Person } from "./accounts.ts";
import { removeOpenedFiles } from "./opened-files.ts";

/**
 * [Note: What is wiped when] It belongs to the host's life: it happens also where no screen asked
 * for the vault.
 * 1. `lock`: the vault ends its workers, but for those that seal and send. Files with opened
 *    content go, and what a link carried. The device key, records and waiting uploads stay.
 * 2. `sign_out`: all workers end. On the person's own device this is a lock, and uploads wait. On a
 *    shared computer, or where nobody answered, everything of the person goes: records, uploads,
 *    the device key with the last of them.
 * 3. `forget`: as on a shared computer, whatever was answered. A sweep has up to two parts, the
 *    files and the accounts of the person. Each is marked in local storage before it begins, by a
 *    mark of its own, until it is done: a file that stays open leaves no mark on accounts. A page
 *    that starts finishes what is marked, and does nothing else. Whoever is signed in again after
 *    that is back: a mark on their accounts that is still there is over. Every tab sweeps after its
 *    own workers ended, so that none of them writes after the last sweep.
 */
export type SweepKind = "lock" | "sign_out" | "forget";

/** What ends a session, and reaches the accounts of the person. */
export type SessionEndKind = Exclude<SweepKind, "lock">;

export interface Sweeps {
  /**
   * Marks that it begins. What is given back does it, once the workers of this page were ended; it
   * rejects when something is left, which stays marked.
   */
  readonly begin: (kind: SweepKind, person: Person | null) => () => Promise<void>;
  /** At the start of a page, before anybody is signed in. */
  readonly finishMarked: () => Promise<void>;
  /**
   * The person is signed in: what this page found marked on their accounts, and could not finish,
   * is not done any more.
   */
  readonly cancelMarked: (person: Person) => void;
  /** Drops what a link carried, in this tab. */
  readonly dropLinkSecret: () => Promise<void>;
}

export interface SweepsDeps {
  /** Of the origin. */
  readonly storage: Pick<Storage, "getItem" | "key" | "length" | "removeItem" | "setItem">;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Drops what a link carried, in this tab. */
  readonly dropLinkSecret: () => Promise<void>;
  readonly log: (step: string, error: unknown) => void;
}

type SweepPart = "files" | SessionEndKind;

/** A part of one sweep: `sweep.<part>.<uuid>`. */
interface SweepMark {
  readonly name: string;
  readonly part: SweepPart;
}

const MarkName = z.tuple([z.literal("sweep"), z.enum(["files", "sign_out", "forget"]), z.uuid()]);
const MarkedPerson = z.strictObject({ issuer: z.string(), subject: z.string() });

export function createSweeps({ storage, now, dropLinkSecret, log }: SweepsDeps): Sweeps {
  /** What was marked when this page started. */
  let marksAtStart: readonly SweepMark[] = [];

  const writeMark = (part: SweepPart, person: Person | null): SweepMark => {
    const name = `sweep.${part}.${crypto.randomUUID()}`;
    try {
      storage.setItem(
        name,
        JSON.stringify(person === null ? null : { issuer: person.issuer, subject: person.subject }),
      );
    } catch (error) {
      log(`sweep ${part}`, error); // a full disk: it is done all the same, only not finished by another page
    }
    return { name, part };
  };
  /** Null when it was not written by us: nobody's. */
  const readMarkedPerson = ({ name }: SweepMark): Person | null => {
    try {
      return MarkedPerson.parse(JSON.parse(storage.getItem(name) ?? "null"));
    } catch {
      return null;
    }
  };

  const sweepFiles = async ({ name }: SweepMark): Promise<void> => {
    await removeOpenedFiles();
    storage.removeItem(name);
  };
  const sweepAccounts = async (
    { name, part }: SweepMark,
    person: Person | null,
    isWanted: () => boolean,
  ): Promise<void> => {
    if (person !== null)
      await (part === "forget" ? wipeAccounts(person, isWanted) : signOutAccounts(person, now(), isWanted));
    storage.removeItem(name);
  };
  const finish = async (mark: SweepMark): Promise<void> => {
    const isMarked = () => storage.getItem(mark.name) !== null;
    try {
      if (mark.part === "files") await sweepFiles(mark);
      else await sweepAccounts(mark, readMarkedPerson(mark), isMarked);
    } catch (error) {
      // the next page tries again; else another page finished it, or it is over
      if (isMarked()) log(`sweep ${mark.part}`, error);
    }
  };

  return Object.freeze<Sweeps>({
    begin: (kind, person) => {
      const files = writeMark("files", null);
      const accounts = kind === "lock" || person === null ? null : { mark: writeMark(kind, person), person };
      return async () => {
        const results = await Promise.allSettled([
          dropLinkSecret(),
          sweepFiles(files),
          accounts === null ? null : sweepAccounts(accounts.mark, accounts.person, () => true),
        ]);
        for (const result of results) if (result.status === "rejected") throw result.reason;
      };
    },
    finishMarked: async () => {
      marksAtStart = listMarks(storage);
      await Promise.all(marksAtStart.map(finish));
    },
    cancelMarked: (person) => {
      for (const mark of marksAtStart) {
        const markedFor = mark.part === "files" ? null : readMarkedPerson(mark);
        if (markedFor !== null && isSamePerson(markedFor, person)) storage.removeItem(mark.name);
      }
    },
    dropLinkSecret,
  });
}

function listMarks(storage: Pick<Storage, "key" | "length">): readonly SweepMark[] {
  const names = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? "");
  return names.flatMap((name) => {
    const parsed = MarkName.safeParse(name.split("."));
    return parsed.success ? [{ name, part: parsed.data[1] }] : [];
  });
}
