import { ContactEmail } from "@relicario/shared/api";
import type { Pool } from "pg";
import { v7 as uuidv7 } from "uuid";

import { getAddressGroup } from "../http/address-group.ts";
import { attemptLimits, type AttemptLimiter } from "./attempts.ts";
import { hashPassword, findPasswordProblem, verifyPassword, type PasswordProblem } from "./passwords.ts";

/** Its own rule: the service shows this name to its owner alone. 3 to 40 characters, without @. */
const usernamePattern = /^[\p{L}\p{N}][\p{L}\p{N}._-]{1,38}[\p{L}\p{N}]$/u;

interface Account {
  /** UUIDv7, the `sub` of every token; never reused. */
  readonly id: string;
  readonly username: string;
  readonly email: string;
}

interface NewAccount {
  readonly username: string;
  readonly email: string;
  readonly password: string;
}

/** What is wrong with each field of a new account, as keys of the texts. */
export interface SignUpProblems {
  readonly username?: "username_missing" | "username_malformed" | "username_taken";
  readonly email?: "email_missing" | "email_malformed" | "email_taken";
  readonly password?: PasswordProblem;
}

/** Nothing is wrong where it is empty. */
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

  /**
   * Whether somebody has this user name. For the provider itself: it counts as nobody's question.
   */
  async isUsernameTaken(username: string): Promise<boolean> {
    return (await this.#findByLookupKey(toLookupKey(username))) !== undefined;
  }

  /**
   * Looks up a user name or e-mail and checks the password. Takes as long for a name that nobody
   * has.
   *
   * @returns null when name or password is wrong: which one is not told
   * @throws TooManyAttempts, even for the right password, when too many wrong ones came before
   */
  async signIn(login: string, password: string, address: string | undefined): Promise<Account | null> {
    const key = toLookupKey(login);
    const row = await this.#findByLookupKey(key);
    const attemptSubject = row?.id ?? `nobody ${key}`; // one count for an account, under its name or its e-mail
    const addressKey = getAddressGroup(address);
    await this.#attempts.consume(attemptLimits.address, addressKey);
    await this.#attempts.consume(attemptLimits.account, attemptSubject);
    const isPasswordCorrect = await verifyPassword(password, row?.password_hash);
    if (!isPasswordCorrect || row === undefined) return null;
    await this.#attempts.refund(attemptLimits.address, addressKey);
    await this.#attempts.reset(attemptLimits.account, attemptSubject);
    return { id: row.id, username: row.username, email: row.email };
  }

  /**
   * Makes an account, or says what is wrong with which field.
   *
   * @throws TooManyAttempts when too many accounts were made, or taken names asked for, from this
   *   address; or made by all
   */
  async signUp(
    input: NewAccount,
    address: string | undefined,
  ): Promise<{ account: Account } | { problems: SignUpProblems }> {
    // A full window refuses every sign-up from there: were it only the taken names, the refusal
    // itself would tell.
    await this.#attempts.requireRemaining(attemptLimits.takenName, getAddressGroup(address));
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
      await this.#attempts.consume(attemptLimits.takenName, getAddressGroup(address));
    const problems = { ...formatProblems, ...takenProblems };
    if (Object.keys(problems).length > 0) return { problems };
    await this.#attempts.consume(attemptLimits.signUp, getAddressGroup(address));
    await this.#attempts.consume(attemptLimits.signUpGlobal, "");
    return this.#insert({ id: uuidv7(), username, email }, await hashPassword(input.password));
  }

  /**
   * Sets a new password, or says what is wrong with which of the two.
   *
   * @returns null when there is no such account
   * @throws TooManyAttempts, even for the right old password, when too many wrong ones came before
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
    await this.#attempts.consume(attemptLimits.account, row.id);
    const isPasswordCorrect = await verifyPassword(oldPassword, row.password_hash);
    if (isPasswordCorrect) await this.#attempts.reset(attemptLimits.account, row.id);
    const passwordProblem = findPasswordProblem(newPassword, row.username, row.email);
    const problems: PasswordChangeProblems = {
      ...(isPasswordCorrect ? {} : { old_password: "wrong" }),
      ...(passwordProblem === null ? {} : { new_password: passwordProblem }),
    };
    if (Object.keys(problems).length > 0) return problems;
    // Of two changes at once the second finds another hash than the one that it was checked
    // against.
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
      // Somebody took it between the look and the insertion.
      const constraint = error instanceof Error && "constraint" in error ? error.constraint : undefined;
      if (constraint === "accounts_username_taken") return { problems: { username: "username_taken" } };
      if (constraint === "accounts_email_taken") return { problems: { email: "email_taken" } };
      throw error;
    }
  }

  async #findByLookupKey(key: string): Promise<AccountRow | undefined> {
    const column = key.includes("@") ? "email_key" : "username_key"; // no user name holds an @
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
 * Two names with the same key are the same name. PostgreSQL's text holds no NUL, so no key does.
 */
function toLookupKey(name: string): string {
  return name.replaceAll("\0", "").trim().normalize("NFKC").toLowerCase();
}
