import { errors, type Adapter, type AdapterPayload } from "oidc-provider";
import type { Pool } from "pg";

/** What belongs to a grant and goes with it. */
const grantBoundModels: ReadonlySet<string> = new Set([
  "AccessToken",
  "AuthorizationCode",
  "RefreshToken",
  "DeviceCode",
  "BackchannelAuthenticationRequest",
  "PreAuthorizedCode",
]);

interface ProviderRecordRow {
  readonly payload: AdapterPayload;
  readonly consumed: number | null;
}

/**
 * oidc-provider's storage in PostgreSQL, one for each model.
 *
 * Expired rows are not found, except an authorization code that was used: the library looks for it
 * to revoke its grant when it comes a second time (RFC 6749 4.1.2). Codes are kept as they are, not
 * as digests: one lives for 60 seconds and is worthless without its PKCE verifier; a session's id
 * is worthless without the cookie key that signs it.
 */
export class PostgresAdapter implements Adapter {
  readonly #pool: Pool;
  readonly #model: string;

  constructor(pool: Pool, model: string) {
    this.#pool = pool;
    this.#model = model;
  }

  async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
    await this.#pool.query(
      `insert into provider_records (model, id, payload, grant_id, uid, user_code, expires_at)
       values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7))
       on conflict (model, id) do update set payload = excluded.payload, grant_id = excluded.grant_id, uid = excluded.uid,
         user_code = excluded.user_code, expires_at = excluded.expires_at`,
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

  /**
   * @throws InvalidGrant when somebody else used it in the meantime: of two that come at once, one
   *   wins.
   */
  async consume(id: string): Promise<void> {
    const { rowCount } = await this.#pool.query(
      "update provider_records set consumed_at = now() where model = $1 and id = $2 and consumed_at is null",
      [this.#model, id],
    );
    if (rowCount === 0) throw new errors.InvalidGrant("already consumed");
  }

  async destroy(id: string): Promise<void> {
    await this.#pool.query("delete from provider_records where model = $1 and id = $2", [this.#model, id]);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    await this.#pool.query("delete from provider_records where model = $1 and grant_id = $2", [this.#model, grantId]);
  }

  async #findBy(column: "id" | "uid" | "user_code", value: string): Promise<AdapterPayload | undefined> {
    if (value.includes("\0")) return undefined; // no text of PostgreSQL's holds one
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
