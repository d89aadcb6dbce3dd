import { createHmac } from "node:crypto";

import type { Pool } from "pg";

/** How many tries may go wrong in one window, and how long it is. */
interface AttemptLimit {
  readonly name: string;
  readonly max: number;
  readonly windowSeconds: number;
}

const quarterHourSeconds = 15 * 60;
const hourSeconds = 60 * 60;
export const attemptLimits = {
  /** Wrong passwords for one account, whoever tries. */
  account: { name: "account", max: 10, windowSeconds: quarterHourSeconds },
  /** Wrong passwords from one address, whatever the account. */
  address: { name: "address", max: 50, windowSeconds: quarterHourSeconds },
  /**
   * Names and e-mails that were taken, asked from one address: else the sign-up page lists who has
   * an account.
   */
  takenName: { name: "taken", max: 50, windowSeconds: quarterHourSeconds },
  /**
   * New accounts from one address: each costs a password's hash, and may cost others their limits.
   */
  signUp: { name: "sign_up", max: 100, windowSeconds: hourSeconds },
  signUpGlobal: { name: "sign_up_all", max: 1_000, windowSeconds: hourSeconds },
} as const satisfies Record<string, AttemptLimit>;

export class TooManyAttempts extends Error {
  override readonly name = "TooManyAttempts";
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super("too many attempts");
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * Counts in the database, so that the limits hold across processes and restarts. A try is taken
 * before it is known whether it goes wrong and given back when it did not: many at once do not slip
 * through.
 */
export class AttemptLimiter {
  readonly #pool: Pool;
  readonly #hmacKey: string;

  /** @param key a secret: the table holds keyed digests, no names and no addresses */
  constructor(pool: Pool, key: string) {
    this.#pool = pool;
    this.#hmacKey = key;
  }

  /** @throws TooManyAttempts when the window is full; the try that was refused lengthens nothing */
  async consume(limit: AttemptLimit, subject: string): Promise<void> {
    const { rows } = await this.#pool.query<{ count: number; wait: number }>(
      `insert into attempts as a (key, count, ends_at) values ($1, 1, now() + make_interval(secs => $2))
       on conflict (key) do update set
         count = case when a.ends_at <= now() then 1 else least(a.count, $3) + 1 end,
         ends_at = case when a.ends_at <= now() then excluded.ends_at else a.ends_at end
       returning count, extract(epoch from ends_at - now())::float8 as wait`,
      [this.#digest(limit, subject), limit.windowSeconds, limit.max],
    );
    const row = rows[0];
    if (row !== undefined && row.count > limit.max) throw new TooManyAttempts(Math.max(1, Math.ceil(row.wait)));
  }

  /** @throws TooManyAttempts when the window is full; takes nothing */
  async requireRemaining(limit: AttemptLimit, subject: string): Promise<void> {
    const { rows } = await this.#pool.query<{ wait: number }>(
      "select extract(epoch from ends_at - now())::float8 as wait from attempts where key = $1 and ends_at > now() and count >= $2",
      [this.#digest(limit, subject), limit.max],
    );
    const row = rows[0];
    if (row !== undefined) throw new TooManyAttempts(Math.max(1, Math.ceil(row.wait)));
  }

  /** Gives one try back. */
  async refund(limit: AttemptLimit, subject: string): Promise<void> {
    await this.#pool.query("update attempts set count = greatest(count - 1, 0) where key = $1", [
      this.#digest(limit, subject),
    ]);
  }

  /** Forgets the window: the right password was given. */
  async reset(limit: AttemptLimit, subject: string): Promise<void> {
    await this.#pool.query("delete from attempts where key = $1", [this.#digest(limit, subject)]);
  }

  #digest(limit: AttemptLimit, subject: string): string {
    return createHmac("sha256", this.#hmacKey).update(`attempts\0${limit.name}\0${subject}`).digest("base64url");
  }
}
