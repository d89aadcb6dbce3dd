import { errors, type Adapter, type AdapterPayload } from "oidc-provider";
import type { Pool } from "pg";

/** Models that are revoked with their grant. */
const grantBoundModels: ReadonlySet<string> = new Set([
  "AccessToken",
  "AuthorizationCode",
  "RefreshToken",
  "DeviceCode",
  "BackchannelAuthenticationRequest",
  "PreAuthorizedCode",
]);

/** Called before a record is stored. @throws when there are too many */
export type RecordLimit = (model: string, payload: AdapterPayload) => Promise<void>;

interface ProviderRecordRow {
  readonly payload: AdapterPayload;
  readonly consumed: number | null;
}

/**
 * Storage of one oidc-provider model in PostgreSQL.
 *
 * Expired rows are hidden, except a used authorization code: the library needs it to revoke the
 * grant when the code is replayed (RFC 6749 4.1.2). Codes are stored in the clear: one lives 60
 * seconds and is useless without its PKCE verifier; a session's id is useless without the cookie
 * key that signs it.
 *
 * The library saves a session after every request, as it was when the request came. Of two requests
 * at once the later one must not undo the other: a session that ended stays ended, and the newest
 * question about signing out (`state`, with its time `at`) stays.
 */
export class PostgresAdapter implements Adapter {
  readonly #pool: Pool;
  readonly #model: string;
  readonly #limit: RecordLimit;

  constructor(pool: Pool, model: string, limit: RecordLimit = async () => undefined) {
    this.#pool = pool;
    this.#model = model;
    this.#limit = limit;
  }

  /** @throws the error of the record limit */
  async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
    await this.#limit(this.#model, payload);
    await this.#pool.query(
      `insert into provider_records (model, id, payload, grant_id, uid, user_code, expires_at)
       values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7))
       on conflict (model, id) do update set
         payload = case when coalesce((provider_records.payload #>> '{state,at}')::float8, 0)
             > coalesce((excluded.payload #>> '{state,at}')::float8, 0)
           then excluded.payload || jsonb_build_object('state', provider_records.payload -> 'state')
           else excluded.payload end,
         grant_id = excluded.grant_id, uid = excluded.uid, user_code = excluded.user_code, expires_at = excluded.expires_at
       where provider_records.model <> 'Session' or provider_records.uid is not null`,
      [
        this.#model,
        id,
        payload,
        grantBoundModels.has(this.#model) ? payload.grantId : null,
        payload.uid,
        payload.userCode,
        expiresIn,
      ],
    );
  }

  find(id: string): Promise<AdapterPayload | undefined> {
    return this.#findBy("id", id);
  }

  findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.#findBy("uid", uid);
  }

  findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
    return this.#findBy("user_code", userCode);
  }

  /** @throws InvalidGrant when the record is consumed already. Of two concurrent calls one wins. */
  async consume(id: string): Promise<void> {
    const { rowCount } = await this.#pool.query(
      "update provider_records set consumed_at = now() where model = $1 and id = $2 and consumed_at is null",
      [this.#model, id],
    );
    if (rowCount === 0) throw new errors.InvalidGrant("already consumed");
  }

  /**
   * Keeps an ended session's row for an hour without `uid` and contents, so that a request which
   * read the session before cannot store it again.
   */
  async destroy(id: string): Promise<void> {
    await this.#pool.query(
      this.#model === "Session"
        ? "update provider_records set payload = '{}', uid = null, expires_at = now() where model = $1 and id = $2"
        : "delete from provider_records where model = $1 and id = $2",
      [this.#model, id],
    );
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    await this.#pool.query("delete from provider_records where model = $1 and grant_id = $2", [this.#model, grantId]);
  }

  async #findBy(column: "id" | "uid" | "user_code", value: string): Promise<AdapterPayload | undefined> {
    if (value.includes("\0")) return undefined; // PostgreSQL's text holds no NUL
    const { rows } = await this.#pool.query<ProviderRecordRow>(
      `select payload, extract(epoch from consumed_at)::float8 as consumed from provider_records
       where model = $1 and ${column} = $2 and (expires_at is null or expires_at > now() or consumed_at is not null)`,
      [this.#model, value],
    );
    const row = rows[0];
    if (row === undefined) return undefined;
    return row.consumed === null ? row.payload : { ...row.payload, consumed: Math.floor(row.consumed) };
  }
}
