import { z } from "zod";

import { wipeAccounts, isSamePerson, signOutAccounts, type Person } from "./accounts.ts";
import type { VaultStorage } from "./vault-storage.ts";

/**
 * [Note: What is wiped when] A sweep wipes what a device stores. The host runs sweeps, so that they
 * also run when no screen loaded the vault.
 * 1. `lock`: the vault terminates its workers, except those that seal and send. Files with opened
 *    content and the link secret are removed. The device key, records and waiting uploads stay.
 * 2. `sign_out`: all workers are terminated. On the person's own device the account is locked and
 *    uploads wait. On a shared device, or one whose kind is unknown, everything of the person is
 *    wiped: records, uploads, and the device key if no other account is left.
 * 3. `forget`: everything of the person is wiped, whatever kind of device this is.
 *
 * A sweep has up to two parts, files and accounts. Each part has its own mark in local storage,
 * from before it begins until it is done. So a file that stays open does not keep the accounts
 * marked.
 *
 * A starting page finishes the marked parts, and wipes nothing else. Once the person has signed in
 * again, the marks on their accounts are void. Every tab sweeps after its own workers ended, so
 * that no worker writes after the last sweep.
 */
export type SweepKind = "lock" | "sign_out" | "forget";

/** The sweeps that end a session and wipe or lock the person's accounts. */
export type SessionEndKind = Exclude<SweepKind, "lock">;

export interface Sweeps {
  /**
   * Marks the sweep, and returns the function that runs it. Call that function once the workers of
   * this page have ended. It rejects when a part is not finished; the part then stays marked.
   */
  readonly prepare: (kind: SweepKind, person: Person | null) => () => Promise<void>;
  /** Runs at the start of a page, before anyone is signed in. */
  readonly finishMarked: () => Promise<void>;
  /**
   * Removes the marks on this person's accounts that this page found at its start and has not
   * finished. Called when the person has signed in again.
   */
  readonly cancelMarked: (person: Person) => void;
  /** Deletes the link secret of this tab. */
  readonly dropLinkSecret: () => Promise<void>;
}

export interface SweepsDeps {
  /** Local storage. */
  readonly storage: Pick<Storage, "getItem" | "key" | "length" | "removeItem" | "setItem">;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly dropLinkSecret: () => Promise<void>;
  /** Where the vault stores; rejects with `vault_unavailable`. */
  readonly getVaultStorage: () => Promise<VaultStorage>;
  readonly log: (step: string, error: unknown) => void;
}

type SweepPart = "files" | SessionEndKind;

/** Mark of one part of a sweep. Its name is `sweep.<part>.<uuid>`. */
interface SweepMark {
  readonly name: string;
  readonly part: SweepPart;
}

const MarkName = z.tuple([z.literal("sweep"), z.enum(["files", "sign_out", "forget"]), z.uuid()]);
const MarkedPerson = z.strictObject({ issuer: z.string(), subject: z.string() });

export function createSweeps({ storage, now, dropLinkSecret, getVaultStorage, log }: SweepsDeps): Sweeps {
  /** The marks found when this page started. */
  let marksAtStart: readonly SweepMark[] = [];

  const writeMark = (part: SweepPart, person: Person | null): SweepMark => {
    const name = `sweep.${part}.${crypto.randomUUID()}`;
    try {
      storage.setItem(
        name,
        JSON.stringify(person === null ? null : { issuer: person.issuer, subject: person.subject }),
      );
    } catch (error) {
      log(`sweep ${part}`, error); // a full disk: this page runs the sweep, but no other page can finish it
    }
    return { name, part };
  };
  /** Null for a mark without a person, and for one that the host did not write. */
  const readMarkedPerson = ({ name }: SweepMark): Person | null => {
    try {
      return MarkedPerson.parse(JSON.parse(storage.getItem(name) ?? "null"));
    } catch {
      return null;
    }
  };

  const sweepFiles = async ({ name }: SweepMark): Promise<void> => {
    await (await getVaultStorage()).removeOpenedFiles();
    storage.removeItem(name);
  };
  const sweepAccounts = async (
    { name, part }: SweepMark,
    person: Person | null,
    shouldContinue: () => boolean,
  ): Promise<void> => {
    if (person !== null) {
      const vaultStorage = await getVaultStorage();
      await (part === "forget"
        ? wipeAccounts(person, vaultStorage, shouldContinue)
        : signOutAccounts(person, vaultStorage, now(), shouldContinue));
    }
    storage.removeItem(name);
  };
  const finish = async (mark: SweepMark): Promise<void> => {
    const isMarked = () => storage.getItem(mark.name) !== null;
    try {
      if (mark.part === "files") await sweepFiles(mark);
      else await sweepAccounts(mark, readMarkedPerson(mark), isMarked);
    } catch (error) {
      // a marked part is tried again by the next page; an unmarked one is finished or cancelled
      if (isMarked()) log(`sweep ${mark.part}`, error);
    }
  };

  return Object.freeze<Sweeps>({
    prepare: (kind, person) => {
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
