/** In order, each once, never changed after a release. */
export const migrations: readonly { readonly id: number; readonly sql: string }[] = [
  {
    id: 1,
    sql: `
      create table accounts (
        id uuid primary key,
        username text not null,
        username_key text not null constraint accounts_username_taken unique,
        email text not null,
        email_key text not null constraint accounts_email_taken unique,
        password_hash text not null,
        created_at timestamptz not null default now()
      );

      -- Everything that oidc-provider keeps: sessions, interactions, grants, codes.
      create table provider_records (
        model text not null,
        id text not null,
        payload jsonb not null,
        grant_id text,
        uid text,
        user_code text,
        consumed_at timestamptz,
        expires_at timestamptz,
        primary key (model, id)
      );
      create index provider_records_grant on provider_records (grant_id) where grant_id is not null;
      create index provider_records_uid on provider_records (model, uid) where uid is not null;
      create index provider_records_user_code on provider_records (model, user_code) where user_code is not null;
      create index provider_records_expiry on provider_records (expires_at) where expires_at is not null;

      -- Tries that went wrong, counted in windows. The key is a keyed digest: no names and no addresses.
      create table attempts (
        key text primary key,
        count integer not null,
        ends_at timestamptz not null
      );
      create index attempts_end on attempts (ends_at);
    `,
  },
  {
    id: 2,
    sql: `
      -- When the next try is admitted, within a window that slows down.
      alter table attempts add column next_at timestamptz not null default now();
    `,
  },
];
