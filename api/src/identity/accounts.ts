import { ContactEmail } from "@relicario/shared/api";
import { getClientNetwork } from "@relicario/tooling/http";
import type { Pool } from "pg";
import { v7 as uuidv7 } from "uuid";

import { attemptLimits, type AttemptLimiter } from "./attempts.ts";
import { hashPassword, findPasswordProblem, verifyPassword, type PasswordProblem } from "./passwords.ts";

/**
 * 3 to 40 characters, without @. Only this provider has the rule; the product shows the name only
 * to its owner.
 */
const usernamePattern = /^[\p{L}\p{N}][\p{L}\p{N}._-]{1,38}[\p{L}\p{N}]$/u;

interface Account {
  /** UUIDv7, the `sub` of every token; never reused. */
  readonly id: string;
  readonly username: string;
  readonly email: string;
}

export interface SignInAttempt {
  /** User name or e-mail. */
  readonly login: string;
  /** The other of user name and e-mail, where both are required. */
  readonly otherName: string;
  readonly password: string;
  readonly address: string;
  /** Null for a browser in which this person has not signed in before. */
  readonly findKnownBrowser: (accountId: string) => string | null;
}

interface NewAccount {
  readonly username: string;
  readonly email: string;
  readonly password: string;
}

/** Problems by field, as keys of the texts. */
export interface SignUpProblems {
  readonly username?: "username_missing" | "username_malformed" | "username_taken";
  readonly email?: "email_missing" | "email_malformed" | "email_taken";
  readonly password?: PasswordProblem;
}

/** Empty when the change succeeded. */
export interface PasswordChangeProblems {
  readonly old_password?: "wrong";
  readonly new_password?: PasswordProblem;
}

interface AccountRow extends Account {
  readonly password_hash: string;
}

export class Accounts {
  readonly #pool: Pool;
  readonly #attempts: AttemptLimiter;

  constructor(pool: Pool, attempts: AttemptLimiter) {
    this.#pool = pool;
    this.#attempts = attempts;
  }

  async find(id: string): Promise<Account | undefined> {
    const { rows } = await this.#pool.query<Account>("select id, username, email from accounts where id = $1", [id]);
    return rows[0];
  }

  /** For the provider itself: not counted as an attempt. */
  async isUsernameTaken(username: string): Promise<boolean> {
    return (await this.#findByLookupKey(toLookupKey(username))) !== undefined;
  }

  /**
   * Finds an account by user name or e-mail and verifies the password. Takes the same time for an
   * unknown name. Limits: [Note: Wrong passwords].
   *
   * @returns `wrong` whether name or password is wrong; `other_name_missing` when both names are
   *   required
   * @throws TooManyAttempts when this IP address, or this known browser, must wait
   */
  async signIn({
    login,
    otherName,
    password,
    address,
    findKnownBrowser,
  }: SignInAttempt): Promise<Account | "wrong" | "other_name_missing"> {
    const key = toLookupKey(login);
    const row = await this.#findByLookupKey(key);
    const attemptSubject = row?.id ?? `nobody ${key}`; // counts per account, whichever name was given
    const addressKey = getClientNetwork(address);
    const knownBrowser = row === undefined ? null : findKnownBrowser(row.id);
    const isOtherNameNeeded =
      knownBrowser === null &&
      ((await this.#attempts.isReached(attemptLimits.account, attemptSubject)) ||
        (await this.#attempts.isReached(attemptLimits.address, addressKey)));
    if (isOtherNameNeeded && otherName.trim() === "") return "other_name_missing";
    const pair = `${knownBrowser ?? addressKey}\0${attemptSubject}`;
    await this.#attempts.slowDown(attemptLimits.pair, pair);
    const isPasswordCorrect = await verifyPassword(password, row?.password_hash);
    const isOtherNameCorrect =
      !isOtherNameNeeded ||
      (row !== undefined && toLookupKey(otherName) === toLookupKey(key.includes("@") ? row.username : row.email));
    if (isPasswordCorrect && isOtherNameCorrect && row !== undefined) {
      await this.#attempts.reset(attemptLimits.pair, pair);
      return { id: row.id, username: row.username, email: row.email };
    }
    if (knownBrowser === null) {
      await this.#attempts.record(attemptLimits.account, attemptSubject);
      await this.#attempts.record(attemptLimits.address, addressKey);
    }
    return "wrong";
  }

  /**
   * Creates an account, or returns the problems of its fields.
   *
   * @throws TooManyAttempts after too many new accounts or taken names from this IP address, or too
   *   many new accounts in total
   */
  async signUp(input: NewAccount, address: string): Promise<{ account: Account } | { problems: SignUpProblems }> {
    // Checked for every sign-up: if only taken names were refused, the refusal would reveal them.
    await this.#attempts.requireRemaining(attemptLimits.takenName, getClientNetwork(address));
    const username = input.username.trim().normalize("NFC");
    const email = input.email.trim().normalize("NFC");
    const formatProblems = findFormatProblems({ username, email, password: input.password });
    const conflictingAccounts = await this.#pool.query<{ username_key: string; email_key: string }>(
      "select username_key, email_key from accounts where username_key = $1 or email_key = $2",
      [toLookupKey(username), toLookupKey(email)],
    );
    const takenProblems: SignUpProblems = {
      ...(conflictingAccounts.rows.some((row) => row.username_key === toLookupKey(username))
        ? { username: "username_taken" }
        : {}),
      ...(conflictingAccounts.rows.some((row) => row.email_key === toLookupKey(email)) ? { email: "email_taken" } : {}),
    };
    if (conflictingAccounts.rows.length > 0)
      await this.#attempts.consume(attemptLimits.takenName, getClientNetwork(address));
    const problems = { ...formatProblems, ...takenProblems };
    if (Object.keys(problems).length > 0) return { problems };
    await this.#attempts.consume(attemptLimits.signUp, getClientNetwork(address));
    await this.#attempts.consume(attemptLimits.signUpGlobal, "");
    return this.#insert({ id: uuidv7(), username, email }, await hashPassword(input.password));
  }

  /**
   * Sets a new password, or returns the problems of the old and the new one.
   *
   * @returns null for an unknown account
   * @throws TooManyAttempts, also for the right old password, after too many wrong ones
   */
  async changePassword(
    id: string,
    { oldPassword, newPassword }: { readonly oldPassword: string; readonly newPassword: string },
  ): Promise<PasswordChangeProblems | null> {
    const { rows } = await this.#pool.query<AccountRow>(
      "select id, username, email, password_hash from accounts where id = $1",
      [id],
    );
    const [row] = rows;
    if (row === undefined) return null;
    await this.#attempts.consume(attemptLimits.passwordChange, row.id);
    const isPasswordCorrect = await verifyPassword(oldPassword, row.password_hash);
    if (isPasswordCorrect) await this.#attempts.reset(attemptLimits.passwordChange, row.id);
    const passwordProblem = findPasswordProblem(newPassword, row.username, row.email);
    const problems: PasswordChangeProblems = {
      ...(isPasswordCorrect ? {} : { old_password: "wrong" }),
      ...(passwordProblem === null ? {} : { new_password: passwordProblem }),
    };
    if (Object.keys(problems).length > 0) return problems;
    // Of two concurrent changes the second no longer matches the hash that was verified.
    const updateResult = await this.#pool.query(
      "update accounts set password_hash = $3 where id = $1 and password_hash = $2",
      [id, row.password_hash, await hashPassword(newPassword)],
    );
    return updateResult.rowCount === 1 ? {} : { old_password: "wrong" };
  }

  async #insert(account: Account, passwordHash: string): Promise<{ account: Account } | { problems: SignUpProblems }> {
    const { id, username, email } = account;
    try {
      await this.#pool.query(
        "insert into accounts (id, username, username_key, email, email_key, password_hash) values ($1, $2, $3, $4, $5, $6)",
        [id, username, toLookupKey(username), email, toLookupKey(email), passwordHash],
      );
      return { account };
    } catch (error) {
      // The name was taken between the check and the insert.
      const constraint = error instanceof Error && "constraint" in error ? error.constraint : undefined;
      if (constraint === "accounts_username_taken") return { problems: { username: "username_taken" } };
      if (constraint === "accounts_email_taken") return { problems: { email: "email_taken" } };
      throw error;
    }
  }

  async #findByLookupKey(key: string): Promise<AccountRow | undefined> {
    const column = key.includes("@") ? "email_key" : "username_key"; // user names contain no @
    const { rows } = await this.#pool.query<AccountRow>(
      `select id, username, email, password_hash from accounts where ${column} = $1`,
      [key],
    );
    return rows[0];
  }
}

function findFormatProblems({ username, email, password }: NewAccount): SignUpProblems {
  const passwordProblem = findPasswordProblem(password, username, email);
  return {
    ...(username === ""
      ? { username: "username_missing" }
      : usernamePattern.test(username)
        ? {}
        : { username: "username_malformed" }),
    ...(email === ""
      ? { email: "email_missing" }
      : ContactEmail.safeParse(email).success
        ? {}
        : { email: "email_malformed" }),
    ...(passwordProblem === null ? {} : { password: passwordProblem }),
  };
}

/**
 * Names with the same key are the same name. NUL is removed because PostgreSQL's text cannot hold
 * it.
 */
function toLookupKey(name: string): string {
  return name.replaceAll("\0", "").trim().normalize("NFKC").toLowerCase();
}
