import { createHmac } from "node:crypto";

import type { Pool } from "pg";

/** How many attempts a window allows. */
interface AttemptLimit {
  readonly name: string;
  readonly maxAttempts: number;
  readonly windowSeconds: number;
}

const minuteSeconds = 60;
const quarterHourSeconds = 15 * minuteSeconds;
const hourSeconds = 60 * minuteSeconds;
/**
 * [Note: Wrong passwords]
 *
 * Wrong passwords of strangers lock no one out:
 *
 * 1. Wrong passwords for one account from one IP address slow down that IP address for that
 *    account: from the tenth on, each attempt must wait, up to a minute.
 * 2. A browser in which the person signed in before has its own count, by a signed cookie.
 * 3. Where strangers try many passwords, for the account or from the IP address, other browsers
 *    must give both user name and e-mail.
 */
export const attemptLimits = {
  /** Wrong passwords for one account from one IP address, or from one known browser. */
  pair: { name: "pair", maxAttempts: 10, windowSeconds: quarterHourSeconds },
  /** Wrong passwords for one account, from browsers that are not known. */
  account: { name: "account", maxAttempts: 20, windowSeconds: quarterHourSeconds },
  /** Wrong passwords from one IP address, for any account. */
  address: { name: "address", maxAttempts: 50, windowSeconds: quarterHourSeconds },
  /** Wrong old passwords in password changes of one account, which need its session. */
  passwordChange: { name: "password_change", maxAttempts: 10, windowSeconds: quarterHourSeconds },
  /**
   * Authorization codes per account: each is a row for an hour. An open tab renews every few
   * minutes.
   */
  code: { name: "code", maxAttempts: 240, windowSeconds: quarterHourSeconds },
  /**
   * Sign-ups with a taken name or e-mail from one IP address: otherwise the page reveals who has an
   * account.
   */
  takenName: { name: "taken", maxAttempts: 50, windowSeconds: quarterHourSeconds },
  /**
   * New accounts from one IP address: each costs a password hash and counts against the global
   * limit.
   */
  signUp: { name: "sign_up", maxAttempts: 100, windowSeconds: hourSeconds },
  signUpGlobal: { name: "sign_up_all", maxAttempts: 1_000, windowSeconds: hourSeconds },
} as const satisfies Record<string, AttemptLimit>;

/** Sign-in pages of one address. */
export const createSignInPageLimit = (maxAttempts: number): AttemptLimit => ({
  name: "sign_in_page",
  maxAttempts,
  windowSeconds: minuteSeconds,
});

const maxWaitSeconds = minuteSeconds;

export class TooManyAttempts extends Error {
  override readonly name = "TooManyAttempts";
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super("too many attempts");
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * Counts in the database, across processes and restarts. An attempt is counted before its outcome
 * is known, so that concurrent attempts cannot exceed the limit.
 */
export class AttemptLimiter {
  readonly #pool: Pool;
  readonly #hmacKey: string;

  /** @param key secret: the table holds keyed digests, no names or addresses */
  constructor(pool: Pool, key: string) {
    this.#pool = pool;
    this.#hmacKey = key;
  }

  /** @throws TooManyAttempts when the window is full; a refused attempt does not extend it */
  async consume(limit: AttemptLimit, subject: string): Promise<void> {
    const { rows } = await this.#pool.query<{ count: number; wait: number }>(
      `insert into attempts as a (key, count, ends_at) values ($1, 1, now() + make_interval(secs => $2))
       on conflict (key) do update set
         count = case when a.ends_at <= now() then 1 else least(a.count, $3) + 1 end,
         ends_at = case when a.ends_at <= now() then excluded.ends_at else a.ends_at end
       returning count, extract(epoch from ends_at - now())::float8 as wait`,
      [this.#digest(limit, subject), limit.windowSeconds, limit.maxAttempts],
    );
    const row = rows[0];
    if (row !== undefined && row.count > limit.maxAttempts) throw new TooManyAttempts(Math.max(1, Math.ceil(row.wait)));
  }

  /** @throws TooManyAttempts when the window is full; counts nothing */
  async requireRemaining(limit: AttemptLimit, subject: string): Promise<void> {
    const { rows } = await this.#pool.query<{ wait: number }>(
      "select extract(epoch from ends_at - now())::float8 as wait from attempts where key = $1 and ends_at > now() and count >= $2",
      [this.#digest(limit, subject), limit.maxAttempts],
    );
    const row = rows[0];
    if (row !== undefined) throw new TooManyAttempts(Math.max(1, Math.ceil(row.wait)));
  }

  /**
   * Counts an attempt. From the limit on, the next attempt must wait 2, 4, 8 … seconds, at most a
   * minute.
   *
   * @throws TooManyAttempts while the attempt must wait; a refused attempt is not counted
   */
  async slowDown(limit: AttemptLimit, subject: string): Promise<void> {
    const key = this.#digest(limit, subject);
    // Attempts at once wait for the row: one that started first may see a `next_at` after its own
    // `now()`. The clock of the moment it has the row decides.
    const { rowCount } = await this.#pool.query(
      `insert into attempts as a (key, count, ends_at) values ($1, 1, now() + make_interval(secs => $2))
       on conflict (key) do update set
         count = case when a.ends_at <= now() then 1 else a.count + 1 end,
         next_at = case when a.ends_at <= now() or a.count + 1 < $3 then now()
                   else now() + make_interval(secs => least($4, 2.0 ^ least(a.count + 2 - $3, 20))) end,
         ends_at = excluded.ends_at
       where a.next_at <= clock_timestamp() or a.ends_at <= now()`,
      [key, limit.windowSeconds, limit.maxAttempts, maxWaitSeconds],
    );
    if (rowCount === 1) return;
    const { rows } = await this.#pool.query<{ wait: number }>(
      "select extract(epoch from next_at - now())::float8 as wait from attempts where key = $1",
      [key],
    );
    throw new TooManyAttempts(Math.max(1, Math.ceil(rows[0]?.wait ?? 1)));
  }

  /** Counts an attempt; the caller decides by {@link isReached}. */
  async record(limit: AttemptLimit, subject: string): Promise<void> {
    await this.consume(limit, subject).catch((error: unknown) => {
      if (!(error instanceof TooManyAttempts)) throw error;
    });
  }

  /** Whether the window is full. */
  async isReached(limit: AttemptLimit, subject: string): Promise<boolean> {
    const { rowCount } = await this.#pool.query(
      "select 1 from attempts where key = $1 and ends_at > now() and count >= $2",
      [this.#digest(limit, subject), limit.maxAttempts],
    );
    return rowCount === 1;
  }

  /** Clears the count, after the right password. */
  async reset(limit: AttemptLimit, subject: string): Promise<void> {
    await this.#pool.query("delete from attempts where key = $1", [this.#digest(limit, subject)]);
  }

  #digest(limit: AttemptLimit, subject: string): string {
    return createHmac("sha256", this.#hmacKey).update(`attempts\0${limit.name}\0${subject}`).digest("base64url");
  }
}
